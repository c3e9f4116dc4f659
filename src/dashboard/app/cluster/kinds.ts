/** The kinds that the API server serves, by its discovery. */
import { computed, signal } from '@preact/signals';
import { type ApiKind, type DiscoveryDocument, kindsOf } from './plan/discovery.ts';
import { requestJson } from './request.ts';

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export const kinds = signal<readonly ApiKind[]>([]);

/** Kinds by `PLURAL.GROUP`, such as `pods` and `deployments.apps`. */
export const kindsByKey = computed<ReadonlyMap<string, ApiKind>>(
  () => new Map(kinds.value.map((kind) => [kind.key, kind])),
);

/** Requests the kinds, at the start and again after a change of the custom resource definitions. */
export async function loadKinds(): Promise<void> {
  const documents = await Promise.all(
    ['/api', '/apis'].map((path) => requestJson<DiscoveryDocument>(path, { headers: { accept } })),
  );
  kinds.value = documents.flatMap(kindsOf);
}
