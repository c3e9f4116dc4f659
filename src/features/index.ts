/** List of all features. A new feature is a folder, one line here, and its kinds in kinds.ts. */
import type { Feature } from './feature.ts';
import { type FunctionSettings, functions } from './functions/functions.ts';
import { gateway } from './gateway/gateway.ts';
import { type HostNameSettings, hostNames } from './host-names/host-names.ts';
import { type ImageSettings, images } from './images/images.ts';
import { ingress } from './ingress/ingress.ts';
import { slurm } from './slurm/slurm.ts';
import { type TriggerSettings, triggers } from './triggers/triggers.ts';
import { type WorkflowSettings, workflows } from './workflows/workflows.ts';

/** Settings of a master that features read. */
export interface FeatureSettings
  extends FunctionSettings,
    HostNameSettings,
    ImageSettings,
    TriggerSettings,
    WorkflowSettings {}

export const features: readonly Feature<FeatureSettings>[] = [
  functions,
  gateway,
  hostNames,
  images,
  ingress,
  slurm,
  triggers,
  workflows,
];
