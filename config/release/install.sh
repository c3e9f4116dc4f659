#!/bin/sh
# Installs the executable of a release: sh install.sh URL-OR-DIRECTORY, or MINIK8S_RELEASE=URL-OR-DIRECTORY sh install.sh
# Takes the file for this machine's architecture and SHA256SUMS from there, compares the digest, and installs
# /usr/local/bin/minik8s (--bin-dir DIR: elsewhere). Starts nothing.
set -eu

die() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

usage() {
  printf '%s\n' >&2 \
    'usage: sh install.sh URL-OR-DIRECTORY [--bin-dir DIR]' \
    'Installs the minik8s of a release for this architecture as /usr/local/bin/minik8s, or in DIR. Starts nothing.'
  exit 2
}

# last_line FILE: the last line of what a program printed, or nothing.
last_line() { grep '[^[:space:]]' "$1" 2>/dev/null | tail -n 1; }

# fetch NAME: copies a file of the release to the draft's directory.
fetch() {
  case $release in
    https://* | http://*)
      if command -v curl >/dev/null 2>&1; then
        # An address of https must not lead to one of http.
        case $release in https://*) protocols='=https' ;; *) protocols='=http,https' ;; esac
        curl --fail --silent --show-error --location --proto "$protocols" --retry 3 --connect-timeout 30 \
          --speed-limit 1 --speed-time 60 --output "$draft/$1" "$release/$1" 2>"$draft/problem" || not_downloaded "$1"
      elif command -v wget >/dev/null 2>&1; then
        name=$1
        set -- -t 3
        # Debian's busybox has a wget that crashes when it is given a timeout.
        if wget --version 2>/dev/null | grep -q GNU; then set -- "$@" -T 60; fi
        wget "$@" -O "$draft/$name" "$release/$name" 2>"$draft/problem" || not_downloaded "$name"
      else
        die 'curl and wget are missing: install one of them, or name a local directory'
      fi ;;
    *://*) die "$release: only https, http and local directories are supported" ;;
    *)
      [ -d "$release" ] || die "$release is no directory"
      cp "$release/$1" "$draft/$1" 2>"$draft/problem" || die "cannot copy $release/$1: $(last_line "$draft/problem")" ;;
  esac
}

not_downloaded() { die "cannot download $release/$1: $(last_line "$draft/problem")"; }

# The script is read whole before anything is done, so a part of it, as a broken download gives to sh, does nothing.
main() {
  release=${MINIK8S_RELEASE:-} bin_dir=/usr/local/bin
  while [ $# -gt 0 ]; do
    case $1 in
      --bin-dir) [ $# -ge 2 ] || usage; bin_dir=$2; shift 2 ;;
      --bin-dir=*) bin_dir=${1#*=}; shift ;;
      -*) usage ;;
      *) release=$1; shift; [ $# -eq 0 ] || [ "${1#--bin-dir}" != "$1" ] || usage ;;
    esac
  done
  [ -n "$release" ] || die 'say where the release is: sh install.sh https://HOST/PATH, or a directory'
  [ -n "$bin_dir" ] || die '--bin-dir needs a directory'
  release=${release%/}
  case $release in
    http://*) printf 'install.sh: warning: http is not encrypted: the digests find damaged files, not forged ones\n' >&2 ;;
  esac

  [ "$(uname -s)" = Linux ] || die "minik8s runs on Linux, not on $(uname -s)"
  machine=$(uname -m)
  case $machine in
    x86_64 | amd64) file=minik8s-linux-x64 ;;
    aarch64 | arm64) file=minik8s-linux-arm64 ;;
    *) die "there is no minik8s for $machine, only for x86_64 and aarch64" ;;
  esac

  for program in mktemp sha256sum grep tail chmod mv; do
    command -v "$program" >/dev/null 2>&1 || die "$program is missing"
  done
  umask 022
  elsewhere='run as root, or add --bin-dir DIR'
  [ "$(id -u)" != 0 ] || elsewhere='name another directory with --bin-dir DIR'
  mkdir -p "$bin_dir" 2>/dev/null || die "cannot create $bin_dir; $elsewhere"
  [ ! -d "$bin_dir/minik8s" ] || die "$bin_dir/minik8s is a directory; remove it, or add --bin-dir DIR"
  # The file is renamed within the directory, so that nobody sees a part of it.
  draft=$(mktemp -d "$bin_dir/.minik8s.XXXXXX" 2>/dev/null) || die "cannot write to $bin_dir; $elsewhere"
  trap 'rm -rf "$draft"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  fetch SHA256SUMS
  grep -E "^[0-9a-f]{64}  $file\$" "$draft/SHA256SUMS" >"$draft/wanted" || die "SHA256SUMS of $release does not name $file"
  fetch "$file"
  (cd "$draft" && sha256sum -c wanted >/dev/null 2>&1) ||
    die "$file of $release is damaged: its digest is not the one in SHA256SUMS; nothing was installed"

  chmod 755 "$draft/$file"
  version=$("$draft/$file" version 2>"$draft/problem") || {
    reason=$(last_line "$draft/problem")
    die "$file does not run on this machine${reason:+ ($reason)}; nothing was installed"
  }
  mv -f "$draft/$file" "$bin_dir/minik8s" 2>/dev/null || die "cannot replace $bin_dir/minik8s; nothing was installed"
  name=minik8s
  case :$PATH: in *":$bin_dir:"*) ;; *) name=$bin_dir/minik8s ;; esac
  printf 'installed %s/minik8s %s\n' "$bin_dir" "$version"
  printf 'next: %s install up, which runs a cluster on this machine as a service\n' "$name"
}

main "$@"
