#!/bin/sh
# Sets up the network cards as the kernel's command line describes them: vm.eth0=ADDRESS/LENGTH, vm.gateway=ADDRESS.
set -eu
name=$(cat /proc/sys/kernel/hostname)
grep -q "[[:space:]]$name\$" /etc/hosts || printf '127.0.1.1\t%s\n' "$name" >>/etc/hosts
gateway=
# shellcheck disable=SC2013
for word in $(cat /proc/cmdline); do
  case $word in
    vm.gateway=*) gateway=${word#*=} ;;
    vm.*=*)
      card=${word%%=*}
      ip link set "${card#vm.}" up
      ip address replace "${word#*=}" dev "${card#vm.}"
      ;;
  esac
done
[ -z "$gateway" ] || ip route replace default via "$gateway"
