#!/usr/bin/env bash
# usage: make_manuals.sh HESPAS SHARE     manual pages and completions below SHARE, as packages install them
set -euo pipefail
hespas=$1
share=$2
mkdir -p "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
"$hespas" man >"$share/man/man1/hespas.1"
for command in $("$hespas" -h | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
  "$hespas" man "$command" >"$share/man/man1/hespas-$command.1"
done
"$hespas" completion bash >"$share/bash-completion/completions/hespas"
"$hespas" completion zsh >"$share/zsh/site-functions/_hespas"
"$hespas" completion fish >"$share/fish/vendor_completions.d/hespas.fish"
