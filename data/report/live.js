// The step with other figures of the device and network, from the terms of its kernels and collectives: the formulas of
// src/estimate/calibrated (calibrated.cc, model.cc, tiles.cc), src/driver/stages/power_limit.cc, src/network/calibrated.cc
// and src/simulate/collective.
// Times are in picoseconds, those of terms in microseconds.
'use strict';
// eslint-disable-next-line no-unused-vars
const hespasLive = (() => {
  const together = (parts, power) => {
    const largest = Math.max(...parts);
    if (!(largest > 0)) return 0;
    return largest * parts.reduce((sum, x) => sum + (x / largest) ** power, 0) ** (1 / power);
  };

  // What figures are with these settings; `peak` and `bandwidth` are factors, `launch` seconds.
  const machineWith = (m, { peak, bandwidth, launch }) => {
    const lanes = m.whole_lanes ? Math.round(m.lanes * peak) : m.lanes * peak;
    const share = m.issue_lanes === null ? m.issue_share : Math.min(1, lanes / m.issue_lanes);
    const port = (s) => (1.25 / (1 + s * s)) ** 0.6;
    const gain = port(share) / port(m.issue_share);
    const limited = (rate, limit) => (limit === null ? rate : (rate ** -8 + limit ** -8) ** (-1 / 8));
    const unit = (kind) => limited(m[`${kind}_rate`] * peak * gain, m[`${kind}_limit`]) / limited(m[`${kind}_rate`], m[`${kind}_limit`]);
    const loss = (b) => 1 + (m.rate_share * b) ** m.rate_exponent;
    const memory = m.rate_share ? m.memory_rate * bandwidth * loss(1) / loss(bandwidth) : m.memory_rate * bandwidth;
    const long = (plain, sustained) => Math.min(plain * m.gemm_fraction, sustained);
    return {
      memory, bandwidth, stream: launch * 1e6, between: launch * 1e6 * (m.stream_us > 0 ? m.between_us / m.stream_us : 1), kernel: m.kernel_us, peak,
      l2: Math.min(Math.max(m.l2_rate, memory), 10 * memory),
      lanes: lanes / m.lanes, special: m.special_follows ? lanes / m.lanes : 1,
      long: long(m.plain_rate * bandwidth, memory) / long(m.plain_rate, m.memory_rate),
      units: {
        matrix: { tile: peak, device: peak, power: 8 },
        linear: { tile: (lanes / m.lanes) * gain, device: unit('linear'), power: 4 },
        batched: { tile: (lanes / m.lanes) * gain, device: unit('batched'), power: 4 },
      },
    };
  };

  const matmulTime = (on, { tilings, held, rest, launch, unit }) => {
    const { tile, device, power } = on.units[unit];
    const memory = held / on.bandwidth + rest / (unit === 'matrix' ? on.long : on.bandwidth);
    let best = { us: Infinity, compute: 0, memory };
    for (const [waves, rate, l2, apart] of tilings) {
      const us = together([waves / tile, rate / device, l2, memory], power) + apart;
      if (us < best.us) best = { us, compute: Math.max(waves / tile, rate / device), memory: memory + l2 };
    }
    const start = Math.min(launch, on.stream);
    return { us: (best.us < Infinity ? best.us : 0) + start, launch: start, compute: best.compute, memory: best.memory };
  };

  const trafficTime = (on, [bytes, hits, lanes, special]) => {
    const rate = hits > 0 ? (hits < 1 ? (on.l2 / on.memory) ** hits * on.memory : on.l2) : on.memory;
    const traffic = bytes / rate;
    const compute = lanes / on.lanes + special / on.special;
    return { rest: together([traffic, compute], 6), compute, memory: traffic };
  };

  const kernelTime = (on, kernel) => {
    const time = { us: 0, launch: 0, compute: 0, memory: 0 };
    for (const matmul of kernel.matmuls ?? []) {
      const one = matmulTime(on, matmul);
      for (const key of Object.keys(time)) time[key] += one[key];
    }
    if (kernel.traffic) {
      const traffic = trafficTime(on, kernel.traffic);
      const matrix = kernel.own ? kernel.own[0] / on.peak : 0;
      time.launch = Math.min(on.kernel, on.between);
      time.us = time.launch + Math.max(traffic.rest, matrix, kernel.own ? kernel.own[1] : 0);
      time.compute = Math.max(traffic.compute, matrix);
      time.memory = traffic.memory;
    }
    time.us = Math.max(time.us + (kernel.rest ?? 0) / on.memory + (kernel.wait ?? 0), (kernel.floor ?? 0) / on.peak);
    time.launch += kernel.wait ?? 0;
    return time;
  };

  // Of a distinct block: time, launch and what bounds it.
  const blockTime = (on, kernels, fixed) => {
    if (kernels === null) return { ...fixed };
    const sum = { us: 0, launch: 0, compute: 0, memory: 0 };
    for (const kernel of kernels) {
      const time = kernelTime(on, kernel);
      for (const key of Object.keys(sum)) sum[key] += time[key];
    }
    const bound = sum.launch > Math.max(sum.compute, sum.memory) ? 'launch' : sum.compute >= sum.memory ? 'compute' : 'memory';
    return { time: Math.round(sum.us * 1e6), launch: Math.round(Math.min(sum.launch, sum.us) * 1e6), bound, compute: sum.compute * 1e6, memory: sum.memory * 1e6 };
  };

  // Lowers the clock of the matrix units until the step's mean power is within the device's limit.
  const limitPower = (live, blocks, peak) => {
    const { matrix_power, other_power, vector_rate } = live.machine;
    if (matrix_power === null) return;
    const matrixTime = (b, i) => (b.compute > 0 && live.flops[i] / (b.compute * 1e-12) > vector_rate * peak ? Math.min(b.compute, b.time) : 0);
    const times = blocks.map(matrixTime);
    const sum = (each) => blocks.reduce((total, b, i) => total + live.uses[i] * each(b, i), 0);
    const [matrix, all] = [sum((_, i) => times[i]), sum((b) => b.time)];
    const power = matrix_power * peak;
    if (matrix <= 0 || power * matrix + other_power * (all - matrix) <= all) return;
    const spare = (1 - other_power) * (all - matrix);
    const slower = Math.max(1, (Math.sqrt(spare * spare + 4 * matrix * matrix * power) - spare) / (2 * matrix));
    blocks.forEach((b, i) => {
      if (times[i] > 0) b.time = Math.round(b.time + Math.max(times[i] * slower, b.memory) - Math.max(times[i], b.memory));
    });
  };

  // The cheapest of a library's choices. `links`: for each dimension a factor of bandwidth, and its latency in us.
  const collectiveTime = (choices, links) => Math.min(...choices.map(({ launch, ramp, levels }) => {
    let [latency, alone, inside, fill, slowest, slowestFill] = [0, 0, 0, 0, 0, 0];
    for (const [dimension, hops, software, wire, passing, first, outer] of levels) {
      const { factor, us } = links[dimension];
      latency += software + hops * us;
      alone += wire / factor;
      inside += outer ? 0 : wire / factor;
      fill += first / factor;
      if (passing / factor >= slowest) { slowest = passing / factor; slowestFill = first / factor; }
    }
    const wire = Math.min(alone, slowest + fill - slowestFill);
    return Math.round((launch + latency + wire + ramp * Math.sqrt(launch * Math.min(wire, inside))) * 1e6);
  }));

  // A heap of [key, tie], least first.
  class Heap {
    constructor() { this.items = []; }
    get size() { return this.items.length; }
    static before(a, b) { return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]); }
    push(item) {
      const { items } = this;
      let i = items.push(item) - 1;
      while (i > 0) {
        const up = (i - 1) >> 1;
        if (!Heap.before(items[i], items[up])) break;
        [items[i], items[up]] = [items[up], items[i]];
        i = up;
      }
    }
    pop() {
      const { items } = this;
      const top = items[0];
      const last = items.pop();
      if (!items.length) return top;
      items[0] = last;
      for (let i = 0; ;) {
        let least = 2 * i + 1;
        if (least >= items.length) return top;
        if (least + 1 < items.length && Heap.before(items[least + 1], items[least])) ++least;
        if (!Heap.before(items[least], items[i])) return top;
        [items[i], items[least]] = [items[least], items[i]];
        i = least;
      }
    }
  }

  // One computation and one collective at a time, those of `live.first` first, then lowest first; who waits for whom is
  // `live.waits`. Collectives of `live.holds` run in their order, like computations, and nothing computes meanwhile.
  const simulate = (live, users, durations) => {
    const left = live.waits.map((w) => w.length);
    const first = new Set(live.first);
    const [holds, early] = [new Set(live.holds), new Set()];
    const ready = new Heap();
    const events = new Heap();
    const start = new Array(left.length).fill(0);
    let [computing, free, now, held] = [false, 0, 0, 0];
    const queue = (i) => ready.push([first.has(i) ? 0 : 1, i]);
    const communicate = (i) => {
      start[i] = Math.max(now, free);
      free = start[i] + durations[i];
      events.push([free, i]);
    };
    const arrive = (i) => {
      if (holds.has(i) && live.holds[held] !== i) early.add(i);
      else if (live.kinds[i] && !holds.has(i)) communicate(i);
      else queue(i);
    };
    const compute = () => {
      if (computing || !ready.size) return;
      const [, i] = ready.pop();
      computing = true;
      if (live.kinds[i]) {
        if (early.delete(live.holds[++held])) queue(live.holds[held]);
        communicate(i);
        return;
      }
      start[i] = now;
      events.push([now + durations[i], i]);
    };
    left.forEach((n, i) => { if (n === 0) arrive(i); });
    compute();
    while (events.size) {
      const [time, i] = events.pop();
      now = time;
      if (!live.kinds[i] || holds.has(i)) computing = false;
      for (const user of users[i]) if (--left[user] === 0) arrive(user);
      compute();
    }
    return { start, finish: now };
  };

  // Communication while nothing computes, and what of it overlaps.
  const exposure = (live, start, durations) => {
    const lane = (kind) => start.map((s, i) => [s, s + durations[i], live.kinds[i]]).filter(([a, b, k]) => k === kind && b > a).sort((a, b) => a[0] - b[0]);
    const [computed, communicated] = [lane(0), lane(1)];
    let [overlap, i] = [0, 0];
    for (const [from, to] of communicated) {
      while (i < computed.length && computed[i][1] <= from) ++i;
      for (let j = i; j < computed.length && computed[j][0] < to; ++j) overlap += Math.min(to, computed[j][1]) - Math.max(from, computed[j][0]);
    }
    const sum = (all) => all.reduce((total, [a, b]) => total + b - a, 0);
    return { busy: sum(computed), communication: sum(communicated), overlap };
  };

  // A function from settings to the step. `fixed`: of each distinct block the time, launch and bound that the run has.
  const stepper = (live, fixed) => {
    const users = live.waits.map(() => []);
    live.waits.forEach((waits, i) => waits.forEach((w) => users[w].push(i)));
    const system = live.system ?? [];
    return (settings) => {
      const on = machineWith(live.machine, settings);
      const blocks = live.blocks.map((kernels, i) => blockTime(on, kernels, fixed[i]));
      limitPower(live, blocks, settings.peak);
      const links = system.map((d, i) => ({ factor: settings.links[i].bandwidth / d.bandwidth, us: settings.links[i].latency * 1e6 }));
      const prices = (live.collectives ?? []).map((choices) => collectiveTime(choices, links));
      const durations = live.what.map((w, i) => (live.kinds[i] ? prices[w] : w < 0 ? 0 : blocks[w].time));
      const { start, finish } = simulate(live, users, durations);
      const { busy, communication, overlap } = exposure(live, start, durations);
      const bounds = { compute: 0, memory: 0, launch: 0, network: communication - overlap, idle: finish - busy - (communication - overlap) };
      live.what.forEach((w, i) => {
        if (live.kinds[i] || w < 0) return;
        const launch = Math.min(blocks[w].launch, blocks[w].time);
        bounds.launch += launch;
        bounds[blocks[w].bound in bounds ? blocks[w].bound : 'compute'] += blocks[w].time - launch;
      });
      return { step: finish, compute: busy, communication, overlap, exposed: communication - overlap, idle: bounds.idle, bounds, start, durations, blocks };
    };
  };

  const today = (live) => ({
    peak: 1, bandwidth: 1, launch: live.machine.stream_us * 1e-6, capacity: live.machine.memory_capacity,
    links: (live.system ?? []).map((d) => ({ bandwidth: d.bandwidth, latency: d.latency })),
  });

  return { stepper, today };
})();
