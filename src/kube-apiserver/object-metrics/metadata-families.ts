/** Metrics of the metadata of many kinds; `prefix` is that of the kind, such as `kube_pod`. Pure. */
import type { KubeObject, OwnerReference } from '../../apimachinery/meta.ts';
import type { Labels } from '../../base/metrics/exposition.ts';
import { fact, gauge, gauges, type ObjectFamily, seconds } from './family.ts';

type MetadataFamily = ObjectFamily<KubeObject>;

export const created = (prefix: string): MetadataFamily =>
  gauge(
    `${prefix}_created`,
    'Creation timestamp of the object, in seconds since the epoch.',
    ({ metadata }) => seconds(metadata.creationTimestamp),
  );

export const deletionTimestamp = (prefix: string): MetadataFamily =>
  gauge(
    `${prefix}_deletion_timestamp`,
    'Deletion timestamp of the object, in seconds since the epoch.',
    ({ metadata }) => seconds(metadata.deletionTimestamp),
  );

export const generation = (prefix: string): MetadataFamily =>
  gauge(
    `${prefix}_metadata_generation`,
    'Generation of the desired state of the object.',
    ({ metadata }) => metadata.generation ?? 0,
  );

interface Observed {
  readonly status?: { readonly observedGeneration?: number | undefined } | undefined;
}

export const observedGeneration = (prefix: string): ObjectFamily<Observed> =>
  gauge(
    `${prefix}_status_observed_generation`,
    'Generation that the controller has observed.',
    ({ status }) => status?.observedGeneration ?? 0,
  );

export const resourceVersion = (prefix: string): MetadataFamily =>
  gauge(
    `${prefix}_metadata_resource_version`,
    'The resourceVersion of the object, as a number.',
    ({ metadata }) => {
      const version = Number.parseInt(metadata.resourceVersion, 10);
      return Number.isNaN(version) ? undefined : version;
    },
  );

/** Family with one fact per owner; one fact with empty labels for an object without owners. */
export const owners = (
  name: string,
  labelsOf: (owner: OwnerReference | undefined, object: KubeObject) => Labels,
): MetadataFamily =>
  gauges(name, 'Owner of the object; empty labels if it has none.', (object) => {
    const { ownerReferences = [] } = object.metadata;
    return ownerReferences.length === 0
      ? [fact(labelsOf(undefined, object))]
      : ownerReferences.map((owner) => fact(labelsOf(owner, object)));
  });

export const owner = (prefix: string): MetadataFamily =>
  owners(`${prefix}_owner`, (reference) => ({
    owner_kind: reference?.kind ?? '',
    owner_name: reference?.name ?? '',
    owner_is_controller: reference ? String(reference.controller ?? false) : '',
  }));

/** Labels of a namespaced kind; `label` is the label with the object's name. */
export const namespaced =
  (label: string) =>
  ({ metadata }: KubeObject): Labels => ({ namespace: metadata.namespace ?? '', [label]: metadata.name });

export const named =
  (label: string) =>
  ({ metadata }: KubeObject): Labels => ({ [label]: metadata.name });
