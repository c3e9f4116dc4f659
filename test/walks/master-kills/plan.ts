/** The next disturbance of one of several masters, drawn from a seed. Pure. */
import type { Random } from '../../../src/base/random.ts';

export const kinds = [
  'kill master',
  'kill etcd',
  'kill both',
  'freeze master',
  'freeze etcd',
  'cut off',
  'refill',
] as const;
export type Kind = (typeof kinds)[number];

export interface Disturbance {
  readonly kind: Kind;
  readonly master: number;
  /** Milliseconds until a frozen process is continued, or a link is restored. */
  readonly lastsMs: number;
  /** Milliseconds between this disturbance and the next. */
  readonly restMs: number;
}

/** Relative frequency of each kind of disturbance. */
const weights: Readonly<Record<Kind, number>> = {
  'kill master': 30,
  'kill etcd': 30,
  'kill both': 15,
  'freeze master': 9,
  'freeze etcd': 9,
  'cut off': 5,
  refill: 2,
};

const lasts = { leastMs: 500, mostMs: 3_500 };
const rest = { leastMs: 200, mostMs: 800 };
/** Shares of the disturbances that may begin while one other, or two others, are not over yet. */
const second = 0.15;
const third = 0.03;

/** Returns how many masters may be disturbed at once, the next one included. */
export function mostAtOnce(random: Pick<Random, 'next'>): number {
  const drawn = random.next();
  if (drawn < third) return 3;
  return drawn < third + second ? 2 : 1;
}

/** Returns a disturbance of one of the masters that are not disturbed. There must be one. */
export function nextDisturbance(
  random: Pick<Random, 'next'>,
  masters: number,
  disturbed: ReadonlySet<number>,
): Disturbance {
  const free = Array.from({ length: masters }, (_, index) => index).filter((index) => !disturbed.has(index));
  // A disk is emptied only while no other master is disturbed.
  const possible = kinds.filter((kind) => kind !== 'refill' || disturbed.size === 0);
  const master = free[Math.floor(random.next() * free.length)];
  if (master === undefined) throw new Error('every master is disturbed');
  const between = ({ leastMs, mostMs }: { leastMs: number; mostMs: number }) =>
    Math.round(leastMs + random.next() * (mostMs - leastMs));
  return { kind: drawn(random, possible), master, lastsMs: between(lasts), restMs: between(rest) };
}

function drawn(random: Pick<Random, 'next'>, possible: readonly Kind[]): Kind {
  let left = random.next() * possible.reduce((sum, kind) => sum + weights[kind], 0);
  for (const kind of possible) {
    left -= weights[kind];
    if (left < 0) return kind;
  }
  return 'kill master';
}
