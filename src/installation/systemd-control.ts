/** The service of minik8s in systemd. */
import { systemClock } from '../base/clock.ts';
import { type Exec, ExecError } from '../os/exec.ts';
import { stopBeforeStart } from './held-stop.ts';
import type { ServiceState } from './plan/machine.ts';
import { unitName } from './plan/systemd-unit.ts';
import type { ServiceControl } from './service-control.ts';

async function property(exec: Exec, name: string): Promise<string> {
  const { stdout } = await exec('systemctl', ['show', '--property', name, '--value', unitName]);
  return stdout.trim();
}

export const systemdControl: ServiceControl = {
  async startDocker(exec) {
    await exec('systemctl', ['enable', '--now', 'docker.service']);
  },
  async reload(exec) {
    await exec('systemctl', ['daemon-reload']);
  },
  async enable(exec) {
    await exec('systemctl', ['--quiet', 'enable', unitName]);
  },
  isEnabled: (exec) =>
    exec('systemctl', ['--quiet', 'is-enabled', unitName]).then(
      () => true,
      (error) => !rethrown(error),
    ),
  restart,
  stopBeforeStart: (exec) => stopBeforeStart(exec),
  async remove(exec) {
    await exec('systemctl', ['--quiet', 'disable', '--now', unitName]);
    // A unit that has failed stays in systemd's list otherwise.
    await exec('systemctl', ['reset-failed', unitName]).catch(rethrown);
  },
  state: async (exec) => (await property(exec, 'ActiveState')) as ServiceState,
  status: (exec) => property(exec, 'StatusText'),
  async lastError(exec) {
    const invocation = await property(exec, 'InvocationID');
    const isOver = (await property(exec, 'ActiveState')) === 'inactive';
    if (isOver || invocation === '') return undefined;
    return errorIn(exec, [`_SYSTEMD_INVOCATION_ID=${invocation}`]);
  },
  async mainProcess(exec) {
    const pid = Number(await property(exec, 'MainPID'));
    return pid > 0 ? pid : undefined;
  },
};

/** Returns true for the failure of a program; throws any other error. */
function rethrown(error: unknown): true {
  if (error instanceof ExecError) return true;
  throw error;
}

async function restart(exec: Exec, timeoutMs?: number): Promise<void> {
  const since = `@${Math.floor(systemClock.now() / 1000)}`;
  try {
    await exec('systemctl', ['restart', unitName], { lengthy: true, ...(timeoutMs && { timeoutMs }) });
  } catch (error) {
    const lastError = await errorIn(exec, ['--unit', unitName, '--since', since]);
    if (lastError === undefined) throw error;
    throw new Error(`${unitName} did not start: ${lastError}`, { cause: error });
  }
}

/** Resolves to the last error among the lines of the journal that the words select; undefined if none. */
async function errorIn(exec: Exec, words: readonly string[]): Promise<string | undefined> {
  const all = [...words, '--output', 'cat', '--no-pager'];
  const { stdout } = await exec('journalctl', all).catch(() => ({ stdout: '' }));
  const line = stdout.split('\n').findLast((each) => each.startsWith('error: '));
  return line?.slice('error: '.length);
}
