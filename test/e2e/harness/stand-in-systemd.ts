/**
 * Programs with the names of systemd's, for a bare machine: they start the service by its unit, wait for its
 * notice of readiness, and print its properties. The tests on virtual machines have systemd itself.
 */
import type { BareMachine } from './bare-machine.ts';

const systemctl = `#!/bin/bash
set -u
state=/run/stand-in
log=/var/log/minik8s.log
unit=/etc/systemd/system/minik8s.service
pid() { cat $state/pid 2>/dev/null || echo 0; }
alive() { [ "$(pid)" != 0 ] && kill -0 "$(pid)" 2>/dev/null; }
# The signal is the last one that the unit, or a setting beside it, names by the key.
signal() { cat $unit /run/systemd/system/minik8s.service.d/*.conf 2>/dev/null | sed -n "s/^$1=SIG//p" | tail -n 1; }
stop() {
  if alive; then
    kill -"$(signal "$1")" "$(pid)"
    while alive; do sleep 0.05; done
  fi
  echo 0 >$state/pid
}
start() {
  rm -f $state/ready
  : >$log.start
  command=$(sed -n 's/^ExecStart=//p' $unit)
  INVOCATION_ID=stand-in NOTIFY_SOCKET=$state/notify setsid $command >>$log.start 2>&1 </dev/null &
  echo $! >$state/pid
  disown
  until [ -e $state/ready ]; do
    alive || { cat $log.start >>$log; exit 1; }
    sleep 0.05
  done
}
words=(); property=
while [ $# -gt 0 ]; do
  case $1 in
    --property) property=$2; shift ;;
    -*) ;;
    *) words+=("$1") ;;
  esac
  shift
done
case \${words[0]} in
  start) alive || start ;;
  restart) stop RestartKillSignal; start ;;
  stop) stop KillSignal ;;
  enable) touch $state/enabled ;;
  disable) rm -f $state/enabled; stop KillSignal ;;
  is-enabled) [ -e $state/enabled ] ;;
  daemon-reload | reset-failed) ;;
  show)
    case $property in
      ActiveState) alive && echo active || echo inactive ;;
      MainPID) pid ;;
      StatusText) cat $state/status ;;
    esac ;;
  *) echo "stand-in: unknown command \${words[0]}" >&2; exit 1 ;;
esac
`;

const systemdNotify = `#!/bin/bash
for notice; do
  case $notice in
    READY=1) touch /run/stand-in/ready ;;
    STATUS=*) echo "\${notice#STATUS=}" >/run/stand-in/status ;;
  esac
done
`;

const systemdRun = `#!/bin/bash
out=/dev/null
while [[ $1 == -* ]]; do
  case $1 in --property=StandardOutput=append:*) out=\${1#*append:} ;; esac
  shift
done
setsid "$@" >>"$out" 2>&1 </dev/null &
`;

const journalctl = `#!/bin/bash
cat /var/log/minik8s.log.start
`;

/** Puts the programs on the machine. */
export async function standInForSystemd(machine: BareMachine): Promise<void> {
  // An installation would not replace the link to the built file.
  await machine.run('mkdir -p /run/systemd/system /run/stand-in && rm /usr/local/bin/minik8s');
  const programs = { systemctl, 'systemd-notify': systemdNotify, 'systemd-run': systemdRun, journalctl };
  for (const [name, input] of Object.entries(programs))
    await machine.run(`cat >/usr/local/bin/${name} && chmod 755 /usr/local/bin/${name}`, { input });
}
