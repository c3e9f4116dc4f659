/** All known equivalent mutants, by the folder of their source. */
import type { Equivalent } from '../equivalent.ts';
import { apiserver } from './apiserver.ts';
import { apiserverAnswers } from './apiserver-answers.ts';
import { controllers } from './controllers.ts';
import { featureParts } from './feature-parts.ts';
import { kubelet } from './kubelet.ts';
import { nodeFunctions } from './node-functions.ts';
import { proxy } from './proxy.ts';
import { scheduler } from './scheduler.ts';
import { slurm } from './slurm.ts';
import { storage } from './storage.ts';
import { triggers } from './triggers.ts';
import { volumes } from './volumes.ts';
import { workflowsAndFunctions } from './workflows.ts';

export const equivalents: readonly Equivalent[] = [
  ...apiserver,
  ...apiserverAnswers,
  ...controllers,
  ...featureParts,
  ...kubelet,
  ...nodeFunctions,
  ...proxy,
  ...scheduler,
  ...slurm,
  ...storage,
  ...triggers,
  ...volumes,
  ...workflowsAndFunctions,
];
