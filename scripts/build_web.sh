#!/usr/bin/env bash
# usage: build_web.sh      the engine in WebAssembly: the page build/web and the npm package build/web/hespas-VERSION.tgz
# Needs Emscripten, header packages of scripts/bootstrap.sh web, and what scripts/npm_env.sh fetches.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/wasm
web=build/web
if [ ! -f $build/build.ninja ]; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  emcmake cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' -DHESPAS_TESTS=OFF \
    -DHESPAS_HEADERS=/usr/include -DHESPAS_WITH_SQLITE=OFF -DHESPAS_WITH_YAML=OFF -DHESPAS_WITH_EXPAT=OFF \
    -DHESPAS_WITH_COMPRESSION=OFF -DHESPAS_WITH_OPENSSL=OFF -DHESPAS_WITH_ASSETS=OFF >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
fi
export NODE_PATH=/usr/share/nodejs # where the distribution has modules that Emscripten loads; other builds of Node.js look elsewhere
ninja -C $build -j "${JOBS:-$(nproc)}" --quiet hespas

modules=$(scripts/npm_env.sh web)
charts=$(scripts/npm_env.sh report)/echarts/dist/echarts.min.js
bundle() {
  NODE_PATH=$modules "$modules/.bin/esbuild" "$1" --bundle --minify --log-level=warning --alias:hespas-module="$PWD/$build/bin/hespas.mjs" "${@:2}"
}
rm -rf $web
mkdir -p $web/npm $web/examples
bundle web/page/worker.mjs --format=iife --outfile=$web/worker.js
bundle web/page/page.mjs --format=esm --outfile=$web/page.js
bundle web/npm/index.mjs --format=esm --platform=node --outfile=$web/npm/index.mjs
cp web/page/index.html web/page/page.css $web
cp data/report/page.css $web/report.css
cp $build/bin/hespas.wasm $web
cp examples/llama3-100m-4dev.mlir.gz data/workloads/llama3-8b-8dev.mlir.zst \
  data/workloads/resnet50_train_step_4_devices_1024_batch.mlir.zst $web/examples
python3 scripts/web_data.py "$charts" $web

cp web/npm/index.d.ts web/npm/README.md LICENSE $web/npm
cp $web/hespas.wasm $web/data.json $web/npm
(cd $web/npm && npm pack --silent --pack-destination ..)
cat $web/hespas.wasm $web/data.json $web/*.js | gzip -9 | wc -c | awk '{ printf "build/web: %.2f MB compressed, presets and charts included\n", $1 / 1e6 }'
