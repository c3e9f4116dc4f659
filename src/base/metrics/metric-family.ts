/** Short forms for families of metrics. Pure. */
import type { Family, Sample } from './exposition.ts';

export const counter = (name: string, help: string, samples: readonly Sample[]): Family => ({
  ...{ name, help, type: 'counter', samples },
});

export const gauge = (name: string, help: string, samples: readonly Sample[]): Family => ({
  ...{ name, help, type: 'gauge', samples },
});

export const histogram = (name: string, help: string, samples: readonly Sample[]): Family => ({
  ...{ name, help, type: 'histogram', samples },
});

/** Returns one sample without labels; none for an unknown value. */
export const single = (value: number | undefined): readonly Sample[] =>
  value === undefined ? [] : [{ value }];
