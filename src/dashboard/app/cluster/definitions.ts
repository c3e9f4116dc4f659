/** Loads the kinds again when a CustomResourceDefinition or an APIService was created, changed or deleted. */
import { effect, untracked } from '@preact/signals';
import { may } from './access.ts';
import { kindsByKey, loadKinds } from './kinds.ts';
import { watchAll } from './watch.ts';

const sources = ['customresourcedefinitions.apiextensions.k8s.io', 'apiservices.apiregistration.k8s.io'];
/** Time after a change until the server serves what is new. */
const settleMs = 1_000;

export function followDefinitions(): void {
  let known: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const collections = sources.flatMap((key) => {
      const kind = kindsByKey.value.get(key);
      return kind && may('list', kind) ? [watchAll(kind, { metadataOnly: true }).value] : [];
    });
    if (collections.length === 0 || !collections.every(({ synced }) => synced)) return;
    const versions = collections.flatMap(({ items }) => items.map(versionOf)).join();
    if (known !== undefined && known !== versions) {
      clearTimeout(timer);
      timer = setTimeout(() => untracked(() => void loadKinds().catch(() => undefined)), settleMs);
    }
    known = versions;
  });
}

const versionOf = ({
  metadata: { uid, generation },
}: {
  metadata: { uid: string; generation?: number | undefined };
}) => `${uid} ${generation ?? 0}`;
