import { useMemo } from 'preact/hooks';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { watchTable } from '../cluster/watch.ts';
import { objectHref } from '../shell/plan/addresses.ts';

interface Props {
  readonly kind: ApiKind;
  readonly namespace: string;
}

export function KindTable({ kind, namespace }: Props) {
  const table = useMemo(() => watchTable(kind, { namespace }), [kind, namespace]);
  const columns = table.columns.value.filter(({ priority = 0 }) => priority === 0);
  const { items, synced, error } = table.rows.value;
  return (
    <section class="page">
      <h1>{kind.kind}</h1>
      {error !== undefined && <p role="alert">{error}</p>}
      {!synced && <p class="faint">Loading…</p>}
      <table>
        <thead>
          <tr>
            {columns.map(({ name, description }) => (
              <th key={name} title={description}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map(({ metadata, cells }) => (
            <tr key={metadata.uid}>
              {columns.map((column, index) => (
                <td key={column.name}>
                  {column.format === 'name' ? (
                    <a href={objectHref(kind.key, metadata.namespace ?? '', metadata.name)}>
                      {metadata.name}
                    </a>
                  ) : (
                    String(cells[index] ?? '')
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
