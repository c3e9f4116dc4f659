/** Families of metrics in short. Pure. */
import type { Family, Sample } from '../../../base/exposition.ts';

export const counter = (name: string, help: string, samples: readonly Sample[]): Family => ({
  ...{ name, help, type: 'counter', samples },
});

export const gauge = (name: string, help: string, samples: readonly Sample[]): Family => ({
  ...{ name, help, type: 'gauge', samples },
});
