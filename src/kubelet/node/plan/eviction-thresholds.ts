/**
 * Thresholds of a node's resources (the kubelet's `--eviction-hard`), and the shortages and pressures that
 * follow from them.
 */
import { canonicalQuantity, parseQuantity, quantityValue } from '../../../apimachinery/quantity.ts';

/** Measured usage of a node. */
export interface NodeUsage {
  /** Bytes. */
  readonly memory: { readonly size: number; readonly available: number };
  /** File system of the data directory. */
  readonly nodefs: FileSystemUsage;
  /** File system of the container engine; absent when it is the same one, or not known. */
  readonly imagefs?: FileSystemUsage | undefined;
  readonly pids: { readonly size: number; readonly available: number };
}

export interface FileSystemUsage {
  /** Bytes. */
  readonly size: number;
  readonly available: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

export type Signal =
  | 'memory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'pid.available';

/** Minimum available: a fraction of the size, from 0 to 1, or an amount. */
export type Threshold = { readonly signal: Signal } & (
  | { readonly fraction: number }
  | { readonly amount: number }
);

export type Pressure = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/**
 * The kubelet's defaults, extended by thresholds for the container engine's file system and for processes.
 */
export const defaultEvictionHard =
  'memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<10%,imagefs.inodesFree<5%,pid.available<5%';

interface Measure {
  readonly pressure: Pressure;
  /** Name of the resource in messages. */
  readonly resource: 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';
  readonly of: (usage: NodeUsage) => { readonly size: number; readonly available: number } | undefined;
}

const inodesOf = (usage: FileSystemUsage | undefined) =>
  usage && { size: usage.inodes, available: usage.inodesFree };

const measures: Readonly<Record<Signal, Measure>> = {
  'memory.available': { pressure: 'MemoryPressure', resource: 'memory', of: ({ memory }) => memory },
  'nodefs.available': { pressure: 'DiskPressure', resource: 'ephemeral-storage', of: ({ nodefs }) => nodefs },
  'nodefs.inodesFree': {
    pressure: 'DiskPressure',
    resource: 'inodes',
    of: ({ nodefs }) => inodesOf(nodefs),
  },
  'imagefs.available': {
    pressure: 'DiskPressure',
    resource: 'ephemeral-storage',
    of: ({ imagefs }) => imagefs,
  },
  'imagefs.inodesFree': {
    pressure: 'DiskPressure',
    resource: 'inodes',
    of: ({ imagefs }) => inodesOf(imagefs),
  },
  'pid.available': { pressure: 'PIDPressure', resource: 'pids', of: ({ pids }) => pids },
};
const signals = Object.keys(measures) as readonly Signal[];

/**
 * Parses `memory.available<100Mi,nodefs.available<10%`; '' gives no thresholds. Throws an Error that
 * describes the expected form.
 */
export function parseThresholds(text: string): readonly Threshold[] {
  return text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const words = part.trim();
      const signal = signals.find((known) => words.startsWith(`${known}<`));
      if (signal === undefined) {
        throw new Error(
          `expected SIGNAL<AMOUNT or SIGNAL<PERCENT% with commas between; signals: ${signals.join(', ')}`,
        );
      }
      const value = words.slice(signal.length + 1);
      const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(value) ?? [];
      if (percent === undefined) return { signal, amount: amountOf(value) };
      if (Number(percent) >= 100) throw new Error(`${signal}: expected less than 100%`);
      return { signal, fraction: Number(percent) / 100 };
    });
}

function amountOf(text: string): number {
  try {
    const amount = parseQuantity(text);
    if (amount.nano >= 0n) return quantityValue(amount);
  } catch {
    // The error below describes the expected form.
  }
  throw new Error(`expected an amount such as 100Mi or 10%, not ${JSON.stringify(text)}`);
}

/** A resource whose available amount is below its threshold. */
export interface Shortage {
  readonly pressure: Pressure;
  readonly signal: Signal;
  readonly resource: Measure['resource'];
  readonly threshold: number;
  readonly available: number;
}

export function shortagesOf(usage: NodeUsage, thresholds: readonly Threshold[]): readonly Shortage[] {
  return thresholds.flatMap((wanted) => {
    const { signal } = wanted;
    const { pressure, resource, of } = measures[signal];
    const measured = of(usage);
    // A file system that does not count inodes, or reports nothing, is never short.
    if (!measured || measured.size <= 0) return [];
    const threshold = 'fraction' in wanted ? Math.floor(measured.size * wanted.fraction) : wanted.amount;
    const { available } = measured;
    return available < threshold ? [{ pressure, signal, resource, threshold, available }] : [];
  });
}

/** Time at which each pressure was last seen, in milliseconds since the epoch. */
export type PressureMemory = Readonly<Record<Pressure, number>>;

export const neverUnderPressure: PressureMemory = {
  MemoryPressure: -Infinity,
  DiskPressure: -Infinity,
  PIDPressure: -Infinity,
};

export function rememberPressure(
  before: PressureMemory,
  shortages: readonly Shortage[],
  now: number,
): PressureMemory {
  return { ...before, ...Object.fromEntries(shortages.map(({ pressure }) => [pressure, now])) };
}

/**
 * Time that a pressure remains after its cause has ended, so that pods do not come and go
 * (eviction-pressure-transition-period: 5 minutes).
 */
export const pressureTransitionMs = 300_000;

export const isUnder = (memory: PressureMemory, pressure: Pressure, now: number): boolean =>
  now - memory[pressure] < pressureTransitionMs;

/**
 * Returns the text of a shortage, such as `memory`, `Threshold quantity: 100Mi, available: 80Mi`, worded as
 * upstream.
 */
export const shortageText = ({ resource, threshold, available }: Shortage): string =>
  `The node was low on resource: ${resource}. Threshold quantity: ${size(resource, threshold)}, available: ${size(resource, available)}. `;

/** Formats an amount: bytes in kibibytes, counts as they are. */
export function size(resource: Shortage['resource'], amount: number): string {
  if (resource === 'inodes' || resource === 'pids') return String(amount);
  return canonicalQuantity(`${Math.floor(amount / 1024)}Ki`);
}
