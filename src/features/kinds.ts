/** All kinds of a server: Kubernetes' own and those of the features, and data derived from all of them. */
import { fieldsOf, kubernetesKinds } from '../api/registry.ts';
import type { FieldTable } from '../apimachinery/field-types.ts';
import { storedOf } from '../apimachinery/kind-set.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import { dnsResource } from './host-names/api/dns.ts';
import { slurmFileResource } from './slurm/api/slurm-file.ts';
import { slurmJobResource } from './slurm/api/slurm-job.ts';

export const registry: readonly ResourceDefinition[] = [
  ...kubernetesKinds,
  dnsResource as ResourceDefinition,
  slurmFileResource as ResourceDefinition,
  slurmJobResource as ResourceDefinition,
];

export const kindFields: FieldTable = fieldsOf(registry);

/** Kinds whose objects are stored; they can be listed and watched. */
export const storedKinds: readonly ResourceDefinition[] = storedOf(registry);
