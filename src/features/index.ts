/** List of all features. A new feature is a folder, one line here, and its kinds in kinds.ts. */
import type { Feature } from './feature.ts';
import { hostNames } from './host-names/host-names.ts';
import { slurm } from './slurm/slurm.ts';

export const features: readonly Feature[] = [hostNames, slurm];
