/** The service of minik8s in OpenRC. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, sleep, systemClock } from '../base/clock.ts';
import { type Exec, ExecError } from '../os/exec.ts';
import { ifThere } from '../os/if-there.ts';
import type { ServiceState } from './plan/machine.ts';
import { outputPath, readyPath, runlevelLink, scriptPath } from './plan/openrc-script.ts';
import { ownServiceOf, runtimeDirectoryOf, serviceWords } from './plan/service-manager.ts';
import type { ServiceControl } from './service-control.ts';

const { openrc: service } = ownServiceOf;

/** Interval in milliseconds at which a starting service is checked: OpenRC sends no notices. */
const lookMs = 100;

/** States by the exit statuses of `rc-service NAME status`. */
const states: Readonly<Record<number, ServiceState>> = {
  0: 'active',
  3: 'inactive',
  4: 'deactivating',
  8: 'activating',
  32: 'failed',
};

/** Maximum time in milliseconds to wait for another command for the service, such as a long stop. */
const lockedMs = 120_000;

async function run(exec: Exec, verb: Parameters<typeof serviceWords>[1], timeoutMs?: number): Promise<void> {
  const [program, ...words] = serviceWords(service, verb);
  const options = { lengthy: true, ...(timeoutMs && { timeoutMs }) };
  await whenUnlocked(systemClock, async () => {
    await exec(program, words, options);
  });
}

/**
 * Runs a command again as long as OpenRC rejects it because another one works on the service: that of an
 * installation or a removal that was killed goes on without it.
 */
export async function whenUnlocked(clock: Clock, command: () => Promise<void>): Promise<void> {
  const until = clock.monotonic() + lockedMs;
  for (;;) {
    try {
      return await command();
    } catch (error) {
      if (!isLocked(error) || clock.monotonic() >= until) throw error;
    }
    await sleep(clock, lookMs);
  }
}

const isLocked = (error: unknown): boolean =>
  error instanceof ExecError && /flock failed|is already (?:starting|stopping)/.test(error.failure.stderr);

async function state(exec: Exec): Promise<ServiceState> {
  if (!existsSync(scriptPath)) return 'inactive';
  const status = await run(exec, 'status').then(
    () => 0,
    (error) => {
      if (error instanceof ExecError && typeof error.failure.code === 'number') return error.failure.code;
      throw error;
    },
  );
  const found = states[status] ?? 'failed';
  // For OpenRC a service is started before it is ready.
  return found === 'active' && !existsSync(readyPath) ? 'activating' : found;
}

/** Resolves to the last error of the process since the start of the service. */
async function lastError(): Promise<string | undefined> {
  const text = (await ifThere(readFile(outputPath, 'utf8'))) ?? '';
  return text
    .split('\n')
    .findLast((line) => line.startsWith('error: '))
    ?.slice('error: '.length);
}

export const openrcControl: ServiceControl = {
  async startDocker(exec) {
    await exec('rc-update', ['--quiet', 'add', 'docker', 'default']);
    await exec('rc-service', ['docker', 'start'], { lengthy: true });
  },
  // OpenRC reads a script at each command.
  reload: () => Promise.resolve(),
  async enable(exec) {
    await exec('rc-update', ['--quiet', 'add', service.name, 'default']);
  },
  isEnabled: async () => existsSync(runlevelLink),
  async restart(exec, timeoutMs = Number.POSITIVE_INFINITY) {
    const until = systemClock.monotonic() + timeoutMs;
    await run(exec, 'restart', Number.isFinite(timeoutMs) ? timeoutMs : undefined);
    while (!existsSync(readyPath)) {
      const error = await lastError();
      if (error !== undefined) throw new Error(`minik8s did not start: ${error}`);
      if (systemClock.monotonic() >= until)
        throw new Error(`minik8s is not ready after ${timeoutMs / 1000} s: minik8s logs shows what it does`);
      await sleep(systemClock, lookMs);
    }
  },
  stopBeforeStart: (exec) => run(exec, 'stop'),
  async remove(exec) {
    if (existsSync(runlevelLink)) await exec('rc-update', ['--quiet', 'delete', service.name, 'default']);
    await run(exec, 'stop');
  },
  state,
  status: async () => ((await ifThere(readFile(readyPath, 'utf8'))) ?? 'it is starting').trim(),
  lastError,
  async mainProcess() {
    const path = join(runtimeDirectoryOf.openrc, 'options', service.name, 'child_pid');
    const pid = Number(await ifThere(readFile(path, 'utf8')));
    return pid > 0 ? pid : undefined;
  },
};
