/** The browser's clock and randomness. */
import { type Clock, systemClock } from '../../../base/clock.ts';
import type { Random } from '../../../base/random.ts';

export const browserClock: Clock = { ...systemClock, soon: (fn) => void setTimeout(fn, 0) };

export const browserRandom: Random = { next: () => Math.random(), uuid: () => crypto.randomUUID() };
