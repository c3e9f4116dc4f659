/** Reads whether this machine's clock is synchronised. */
import { type Exec, ExecError } from '../../os/exec.ts';
import type { ClockFacts } from '../checks/clock.ts';
import type { Sources } from './sources.ts';

export async function readClock({ exec }: Sources): Promise<ClockFacts> {
  const [synchronised, canSynchronise] = await Promise.all(
    ['NTPSynchronized', 'CanNTP'].map((property) => propertyOf(exec, property)),
  );
  return {
    isSynchronised: synchronised === undefined ? undefined : synchronised === 'yes',
    hasService: canSynchronise === 'yes',
  };
}

/** Resolves to undefined where systemd does not run. */
async function propertyOf(exec: Exec, property: string): Promise<string | undefined> {
  try {
    return (await exec('timedatectl', ['show', '--property', property, '--value'])).stdout.trim();
  } catch (error) {
    if (error instanceof ExecError) return undefined;
    throw error;
  }
}
