/** The live events about an object. */
import { useMemo } from 'preact/hooks';
import { ageSince } from '../../../apimachinery/age.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { may } from '../cluster/access.ts';
import { kindsByKey } from '../cluster/kinds.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { watchAll } from '../cluster/watch.ts';
import { now } from '../shell/screen.ts';
import { ScrollRegion } from '../shell/scroll-region.tsx';
import { eventLines } from './plan/event-lines.ts';

interface Props {
  readonly object: KubeObject;
  /** Maximum number of events that are shown; absent for all. */
  readonly limit?: number;
}

/** Returns the namespace of an object's events: `default` for an object without a namespace. */
const namespaceOf = ({ metadata }: KubeObject) => metadata.namespace ?? 'default';

export function Events({ object, limit }: Props) {
  const kind = kindsByKey.value.get('events');
  if (!kind || !may('list', kind, namespaceOf(object)))
    return <p class="faint">You may not list the events.</p>;
  return <Listed kind={kind} object={object} limit={limit ?? Number.POSITIVE_INFINITY} />;
}

function Listed({ kind, object, limit }: { kind: ApiKind; object: KubeObject; limit: number }) {
  const { uid } = object.metadata;
  const live = useMemo(
    () => watchAll(kind, { namespace: namespaceOf(object), fields: `involvedObject.uid=${uid}` }),
    [kind, uid],
  );
  const { items, synced } = live.value;
  const lines = useMemo(() => eventLines(items), [items]);
  if (lines.length === 0)
    return <p class="faint">{synced ? 'No events within the last hour.' : 'Loading…'}</p>;
  return (
    <ScrollRegion label="Table of events">
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">Last</th>
            <th scope="col">Reason</th>
            <th scope="col">Message</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, limit).map((line) => (
            <tr key={line.uid}>
              <td class="nowrap" title={line.last}>
                {ageSince(line.last, now.value)}
                {line.count > 1 && <span class="faint"> ×{line.count}</span>}
              </td>
              <td class={line.isWarning ? 'bad' : undefined}>{line.reason}</td>
              <td>{line.message}</td>
              <td class="faint">{line.from}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

export const EventsTab = ({ object }: Props) => (
  <section class="panel" aria-label="Events">
    <Events object={object} />
  </section>
);
