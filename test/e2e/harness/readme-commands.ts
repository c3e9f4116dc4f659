/** Runs the commands of a README or a guide on a cluster, and compares their output with the text. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { ExecError, systemExec } from '../../../src/os/exec.ts';
import type { SampleCommand } from '../../fixtures/sample-readme.ts';
import { executable } from './cluster.ts';
import type { Host } from './host.ts';
import { waitFor } from './wait-for.ts';

export const root = join(import.meta.dirname, '../../..');

export interface ReadmePlace {
  readonly host: Host;
  /** Variables that the commands use, and KUBECONFIG. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder in which the commands run; default: the root of the repository. */
  readonly folder?: string;
}

/** Runs a command; resolves to its exit status, and to both of its outputs. */
export type Shell = (command: string) => Promise<{ readonly code: number; readonly said: string }>;

/** Runs the commands in order. */
export const carryOut = (place: ReadmePlace, commands: readonly SampleCommand[]): Promise<void> =>
  carryOutBy((command) => shell(place, command), commands);

/** Runs the commands in order; a command with an expected output is repeated until it prints it. */
export async function carryOutBy(
  run: Shell,
  commands: readonly SampleCommand[],
  timeoutMs = 200_000,
): Promise<void> {
  for (const { command, says } of commands) {
    if (says === undefined) {
      const { code, said } = await run(command);
      assert.equal(code, 0, `${command}\n${said}`);
      continue;
    }
    const once = async () => {
      const { said } = await run(command);
      if (!says.test(said)) throw new Error(said);
      return true;
    };
    await waitFor(`${command} says ${says}`, once, { timeoutMs });
  }
}

/** Resolves to the whole output, and the exit status. */
async function shell(
  { host, env, folder = root }: ReadmePlace,
  command: string,
): Promise<{ code: number; said: string }> {
  // `ctl` is the short form of samples/README.md.
  const script = `minik8s() { '${executable}' "$@"; }\nctl() { minik8s ctl "$@"; }\n${command}`;
  const options = { env: { ...process.env, ...env }, cwd: folder, timeoutMs: 150_000 };
  try {
    const { stdout, stderr } = await systemExec(...host.command('bash', ['-c', script]), options);
    return { code: 0, said: stdout + stderr };
  } catch (error) {
    if (!(error instanceof ExecError) || error.failure.code === undefined) throw error;
    const { code, stdout, stderr } = error.failure;
    return { code, said: stdout + stderr };
  }
}
