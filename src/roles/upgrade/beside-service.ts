/** A command that goes on while the service of this process is restarted. */
import type { ServiceManager } from '../../installation/plan/service-manager.ts';
import { serviceManagerHere } from '../../installation/services.ts';

/**
 * Returns the words that start `command` and return, with its output appended to `log`: in a unit of its own
 * by systemd, and in a session of its own on OpenRC, which stops only the process that it has started.
 */
export function besideService(
  log: string,
  command: readonly string[],
  manager: ServiceManager | undefined = serviceManagerHere(),
): readonly [string, ...string[]] {
  if (manager === 'openrc')
    return ['setsid', '--fork', 'sh', '-c', 'exec "$@" >>"$0" 2>&1 </dev/null', log, ...command];
  const output = [`--property=StandardOutput=append:${log}`, `--property=StandardError=append:${log}`];
  return ['systemd-run', '--collect', '--quiet', '--unit=minik8s-upgrade', ...output, ...command];
}
