"""Rank correlation after Spearman; equal values share the mean of their ranks."""


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    first = 0
    while first < len(order):
        end = first
        while end < len(order) and values[order[end]] == values[order[first]]:
            end += 1
        for i in order[first:end]:
            result[i] = (first + end - 1) / 2
        first = end
    return result


def rank_correlation(a, b):
    a, b = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    together = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    return together / (sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)) ** 0.5


def spread(rows, key, count):
    """`count` of the rows, evenly spread over their order by `key`, first and last included."""
    rows = sorted(rows, key=key)
    if len(rows) <= count:
        return rows
    return [rows[round(i * (len(rows) - 1) / (count - 1))] for i in range(count)]
