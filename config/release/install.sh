#!/bin/sh
# Installs the executable of a release: sh install.sh URL-OR-DIRECTORY, or MINIK8S_RELEASE=URL-OR-DIRECTORY sh install.sh
# Takes the file for this machine's architecture and SHA256SUMS from there, compares the digest, and installs
# /usr/local/bin/minik8s (--bin-dir DIR: elsewhere). Starts nothing.
set -eu

die() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }
usage() { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }

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

[ "$(uname -s)" = Linux ] || die "minik8s runs on Linux, not on $(uname -s)"
machine=$(uname -m)
case $machine in
  x86_64 | amd64) file=minik8s-linux-x64 ;;
  aarch64 | arm64) file=minik8s-linux-arm64 ;;
  *) die "there is no minik8s for $machine, only for x86_64 and aarch64" ;;
esac

for program in mktemp sha256sum grep chmod mv; do
  command -v "$program" >/dev/null 2>&1 || die "$program is missing"
done
mkdir -p "$bin_dir" 2>/dev/null || die "cannot create $bin_dir; run as root, or add --bin-dir DIR"
# The file is renamed within the directory, so that nobody sees a part of it.
draft=$(mktemp -d "$bin_dir/.minik8s.XXXXXX" 2>/dev/null) || die "cannot write to $bin_dir; run as root, or add --bin-dir DIR"
trap 'rm -rf "$draft"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# fetch NAME: copies a file of the release to the draft's directory.
fetch() {
  case $release in
    https://* | http://*)
      if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --retry 3 --output "$draft/$1" "$release/$1" ||
          die "cannot download $release/$1"
      elif command -v wget >/dev/null 2>&1; then
        wget -q -O "$draft/$1" "$release/$1" || die "cannot download $release/$1"
      else
        die 'curl and wget are missing: install one of them, or name a local directory'
      fi ;;
    *://*) die "$release: only https, http and local directories are supported" ;;
    *)
      [ -d "$release" ] || die "$release is no directory"
      cp "$release/$1" "$draft/$1" || die "cannot read $release/$1" ;;
  esac
}

fetch SHA256SUMS
fetch "$file"
grep -E "^[0-9a-f]{64}  $file\$" "$draft/SHA256SUMS" >"$draft/wanted" || die "SHA256SUMS of $release does not name $file"
(cd "$draft" && sha256sum -c wanted >/dev/null 2>&1) ||
  die "$file of $release is damaged: its digest is not the one in SHA256SUMS; nothing was installed"

chmod 755 "$draft/$file"
version=$("$draft/$file" version) || die "$file does not run on this machine; nothing was installed"
mv -f "$draft/$file" "$bin_dir/minik8s"
printf 'installed %s/minik8s %s\n' "$bin_dir" "$version"
printf 'next: minik8s install up, which runs a cluster on this machine as a service\n'
