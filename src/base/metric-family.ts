/** Families of metrics in short. Pure. */
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

/** One sample without labels; none for what is not known. */
export const single = (value: number | undefined): readonly Sample[] =>
  value === undefined ? [] : [{ value }];
