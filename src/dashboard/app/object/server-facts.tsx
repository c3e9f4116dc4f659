/** The columns of the server's table as facts of one object. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { objectPath } from '../../../client/resource-path.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import type { Table } from '../cluster/plan/table-rows.ts';
import { requestJson } from '../cluster/request.ts';
import { type Health, healthOf } from '../table/plan/health.ts';

interface Fact {
  readonly name: string;
  readonly description: string;
  readonly value: string;
  readonly health: Health | undefined;
}

const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io;includeObject=None';
/** Columns whose value is elsewhere on the page. */
const elsewhere = new Set(['Name', 'Age']);
const healthColumns = new Set(['status', 'phase', 'state', 'ready']);

/** Returns the facts, which are read again for each version of the object. */
export function useServerFacts(kind: ApiKind, object: KubeObject): readonly Fact[] {
  const facts = useSignal<readonly Fact[]>([]);
  const { name, namespace, resourceVersion } = object.metadata;
  useEffect(() => {
    const abort = new AbortController();
    const path = `${objectPath(kind, name, namespace)}?includeObject=None`;
    requestJson<Table>(path, { headers: { accept }, signal: abort.signal }).then(
      (table) => {
        facts.value = factsOf(table);
      },
      // The previous facts stay; a failure of the connection is shown with the object itself.
      () => undefined,
    );
    return () => abort.abort();
  }, [kind, name, namespace, resourceVersion]);
  return facts.value;
}

function factsOf({ columnDefinitions = [], rows = [] }: Table): Fact[] {
  const cells = rows[0]?.cells ?? [];
  const health = healthOf(columnDefinitions, cells);
  return columnDefinitions
    .map(({ name, description = '' }, index) => ({
      name,
      description,
      value: String(cells[index] ?? ''),
      health: healthColumns.has(name.toLowerCase()) ? health : undefined,
    }))
    .filter(({ name, value }) => !elsewhere.has(name) && value !== '' && value !== '<none>');
}
