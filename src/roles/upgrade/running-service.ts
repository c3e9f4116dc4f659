/** The executable of the installed service, which an ordered upgrade replaces. */
import { isSea } from 'node:sea';
import { digestOfFile, readInstalled } from '../../installation/machine-facts.ts';
import { executablePath } from '../../installation/plan/install-plan.ts';

/**
 * Resolves to true if this process is an installed service: systemd sets INVOCATION_ID for its units, and
 * OpenRC RC_SVCNAME.
 */
export const isService = async (): Promise<boolean> =>
  isSea() &&
  (process.env.INVOCATION_ID ?? process.env.RC_SVCNAME) !== undefined &&
  (await readInstalled()) !== undefined;

export const installedExecutable = {
  executable: executablePath,
  ownDigest: () => digestOfFile('/proc/self/exe'),
} as const;
