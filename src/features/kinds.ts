/** All kinds of a server: the kinds of Kubernetes and of the features, and data derived from all of them. */
import { fieldsOf, kubernetesKinds } from '../api/registry.ts';
import type { FieldTable } from '../apimachinery/field-types.ts';
import { storedOf } from '../apimachinery/kind-set.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import { functionResource } from './functions/api/function.ts';
import { functionVersionResource } from './functions/api/function-version.ts';
import { dnsResource } from './host-names/api/dns.ts';
import { imageResource } from './images/api/image.ts';
import { type FeatureName, featureNames } from './names.ts';
import { slurmFileResource } from './slurm/api/slurm-file.ts';
import { slurmJobResource } from './slurm/api/slurm-job.ts';
import { folderWatchResource } from './triggers/api/folder-watch.ts';
import { triggerResource } from './triggers/api/trigger.ts';
import { triggerEventResource } from './triggers/api/trigger-event.ts';
import { workflowResource } from './workflows/api/workflow.ts';
import { workflowHistoryResource } from './workflows/api/workflow-history.ts';
import { workflowRunResource } from './workflows/api/workflow-run.ts';

/** Kinds of the features: a new kind is a file, and a line here. */
const featureKinds = {
  functions: [functionResource, functionVersionResource],
  // The controller of Gateways creates the definitions of its kinds.
  gateway: [],
  'host-names': [dnsResource],
  images: [imageResource],
  ingress: [],
  slurm: [slurmFileResource, slurmJobResource],
  triggers: [folderWatchResource, triggerResource, triggerEventResource],
  workflows: [workflowResource, workflowHistoryResource, workflowRunResource],
} satisfies Record<FeatureName, readonly object[]>;

/** Returns the kinds of a server with some of the features. */
export const kindsWith = (names: readonly FeatureName[]): readonly ResourceDefinition[] => [
  ...kubernetesKinds,
  ...(names.flatMap<object>((name) => featureKinds[name]) as readonly ResourceDefinition[]),
];

/** Kinds of a server with all features. */
export const registry: readonly ResourceDefinition[] = kindsWith(featureNames);

export const kindFields: FieldTable = fieldsOf(registry);

/** Kinds whose objects are stored; they can be listed and watched. */
export const storedKinds: readonly ResourceDefinition[] = storedOf(registry);
