/** Plan of an upgrade of this machine: the steps, and those that undo them where one of them fails. */
import type { Installed } from './installed.ts';
import type { Role } from './role.ts';

/** An executable of minik8s. */
export interface Executable {
  readonly version: string;
  /** SHA-256 digest in hexadecimal digits. */
  readonly sha256: string;
  /** Newest format of stored data that it reads. */
  readonly dataFormat: number;
}

export interface UpgradeRequest {
  /** The installed executable. */
  readonly current: Executable;
  readonly next: Executable;
  readonly allowsDowngrade: boolean;
  readonly backsUp: boolean;
  /** Timeout in milliseconds until the service is ready. */
  readonly timeoutMs: number;
  /** True if `next` is the executable that was installed before: `minik8s upgrade --back`. */
  readonly goesBack?: boolean;
  /**
   * Set if an earlier upgrade was interrupted after it had replaced `current` by `next`: before the service
   * ran `next`, or after it.
   */
  readonly interrupted?: 'before-start' | 'after-start';
}

export type UpgradeStep =
  | { readonly kind: 'back-up' }
  /** Keeps the installed executable beside itself, as `.old`. */
  | { readonly kind: 'keep-old' }
  /**
   * Keeps the installed executable as `.replaced`, while it goes back to `.old`: an interrupted return must
   * find `.old` again.
   */
  | { readonly kind: 'keep-replaced' }
  | { readonly kind: 'stop' }
  /** Converts the stored data back to a format, with the executable that is installed at that time. */
  | { readonly kind: 'lower-data'; readonly format: number }
  /** Replaces the installed executable by the one that was checked. */
  | { readonly kind: 'replace' }
  /** Replaces the installed executable by the one that was kept as `.old` or `.replaced`. */
  | { readonly kind: 'put-back'; readonly kept: 'old' | 'replaced' }
  /** Makes the replaced executable `.old`: the last step of a return. */
  | { readonly kind: 'rename-replaced' }
  | { readonly kind: 'restart'; readonly timeoutMs: number }
  /** Checks that the service runs the executable with this digest. */
  | { readonly kind: 'verify'; readonly expected: Executable };

export const hasControlPlane = (role: Role): boolean => role !== 'node';

/** Returns the steps; none if the file is installed already. Throws an Error that says what to do. */
export function upgradePlan(
  { role }: Pick<Installed, 'role'>,
  request: UpgradeRequest,
): readonly UpgradeStep[] {
  const { current, next, backsUp, goesBack = false, interrupted } = request;
  if (interrupted !== undefined) return interrupted === 'before-start' ? startOf(request) : lastOf(request);
  if (next.sha256 === current.sha256) return [];
  requireAllowed(request);
  const stores = hasControlPlane(role);
  const lowers = stores && next.dataFormat < current.dataFormat;
  return [
    ...(stores && backsUp ? [{ kind: 'back-up' } as const] : []),
    { kind: goesBack ? 'keep-replaced' : 'keep-old' },
    ...(lowers ? [{ kind: 'stop' } as const, { kind: 'lower-data', format: next.dataFormat } as const] : []),
    { kind: 'replace' },
    ...startOf(request),
  ];
}

function requireAllowed({ current, next, allowsDowngrade }: UpgradeRequest): void {
  if (!allowsDowngrade && isOlder(next.version, current.version))
    throw new Error(
      `${next.version} is older than ${current.version}, which is installed: give --allow-downgrade, or go back to the previous file with minik8s upgrade --back`,
    );
}

/** Returns the steps that follow once the file is replaced. */
const startOf = (request: UpgradeRequest): readonly UpgradeStep[] => [
  { kind: 'restart', timeoutMs: request.timeoutMs },
  { kind: 'verify', expected: request.next },
  ...lastOf(request),
];

/** Returns the steps that follow once the service runs the file. */
const lastOf = ({ goesBack = false }: UpgradeRequest): readonly UpgradeStep[] =>
  goesBack ? [{ kind: 'rename-replaced' }] : [];

/**
 * Returns where an earlier upgrade to `next` was interrupted after it had replaced the file; undefined if
 * there was none. The digests are those of the installed executable, of the new one, and of the one that the
 * service runs. `hasReplaced`: true if a return has left the replaced executable as `.replaced`.
 */
export function interruptedAt(
  installed: string,
  next: string,
  running: string | undefined,
  hasReplaced: boolean,
): UpgradeRequest['interrupted'] | undefined {
  if (installed !== next) return undefined;
  if (running !== next) return 'before-start';
  return hasReplaced ? 'after-start' : undefined;
}

/**
 * Returns the steps that lead back to the installed executable after the failure of a step; none if the
 * service runs the right executable as it is.
 */
export function afterFailure(
  failed: UpgradeStep['kind'],
  { role }: Pick<Installed, 'role'>,
  { current, next, timeoutMs, goesBack = false }: UpgradeRequest,
): readonly UpgradeStep[] {
  const restart = [
    { kind: 'restart', timeoutMs },
    { kind: 'verify', expected: current },
  ] as const;
  switch (failed) {
    case 'back-up':
    case 'keep-old':
    case 'keep-replaced':
    case 'rename-replaced':
      return [];
    case 'stop':
    case 'lower-data':
    case 'replace':
      // The service may have been stopped. Its next start converts the data to the newer format again.
      return restart;
    default:
      return [
        ...(hasControlPlane(role) && next.dataFormat > current.dataFormat
          ? ([{ kind: 'stop' }, { kind: 'lower-data', format: current.dataFormat }] as const)
          : []),
        { kind: 'put-back', kept: goesBack ? 'replaced' : 'old' },
        ...restart,
      ];
  }
}

/** Returns a line about the step for the user. */
export function describeUpgradeStep(step: UpgradeStep): string {
  return texts[step.kind](step as never);
}

const texts: {
  readonly [K in UpgradeStep['kind']]: (step: Extract<UpgradeStep, { kind: K }>) => string;
} = {
  'back-up': () => 'create a backup (minik8s backup create)',
  'keep-old': () => 'keep the installed file as /usr/local/bin/minik8s.old',
  'keep-replaced': () => 'keep the installed file as /usr/local/bin/minik8s.replaced',
  stop: () => 'stop the service minik8s; pods keep running',
  'lower-data': ({ format }) => `convert the stored data back to format ${format}`,
  replace: () => 'replace /usr/local/bin/minik8s',
  'put-back': () => 'put the former file back as /usr/local/bin/minik8s',
  'rename-replaced': () => 'keep the replaced file as /usr/local/bin/minik8s.old',
  restart: () => 'restart the service minik8s, and wait until it is ready; pods keep running',
  verify: ({ expected }) => `check that the service minik8s runs ${expected.version}`,
};

/** A version of this program: three numbers, and what the build adds to them. */
const versionForm = /^(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

export const isVersion = (text: string): boolean => versionForm.test(text);

/** Returns true if `a` has smaller numbers than `b`. What follows the numbers has no order. */
export function isOlder(a: string, b: string): boolean {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (const [index, number] of left.entries()) {
    const other = right[index] ?? 0;
    if (number !== other) return number < other;
  }
  return false;
}

const numbersOf = (version: string): readonly number[] =>
  (versionForm.exec(version) ?? []).slice(1, 4).map(Number);

/** ELF's numbers of the architectures, by Node's names of them. */
const machines: Readonly<Record<string, number>> = { x64: 62, arm64: 183 };

/**
 * Returns why a file is not an executable for this architecture; undefined if it is one. `head` is at least
 * its first 20 bytes.
 */
export function executableProblem(head: Uint8Array, arch: string): string | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (head.byteLength < 20 || view.getUint32(0) !== 0x7f454c46)
    return 'is not a Linux executable: give the file of minik8s itself, unpacked';
  const machine = view.getUint16(18, true);
  if (machine === machines[arch]) return undefined;
  const name = Object.keys(machines).find((key) => machines[key] === machine) ?? `ELF machine ${machine}`;
  return `is an executable for ${name}, and this machine is ${arch}`;
}
