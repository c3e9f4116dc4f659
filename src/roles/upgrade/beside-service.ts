/** A command that continues to run while the service of this process is restarted. */
import type { ServiceManager } from '../../installation/plan/service-manager.ts';
import { serviceManagerHere } from '../../installation/services.ts';

/**
 * Returns a command line that starts `command` in the background, with its output appended to `log`.
 * With systemd `command` has a unit of its own. With OpenRC it has a session of its own, because OpenRC
 * stops only the process that it has started.
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
