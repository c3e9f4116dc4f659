/** The first tab of an object: its facts and its state. */
import { ageSince } from '../../../apimachinery/age.ts';
import { recordAt } from '../../../apimachinery/fields.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { kindHref, objectHref } from '../shell/plan/addresses.ts';
import { now } from '../shell/screen.ts';
import { ScrollRegion } from '../shell/scroll-region.tsx';
import { Containers } from './containers.tsx';
import { DataPanel } from './data-panel.tsx';
import { Events } from './events.tsx';
import { conditionsOf } from './plan/conditions.ts';
import { PortCommands } from './port-commands.tsx';
import { keyOfReference } from './references.ts';
import { useServerFacts } from './server-facts.tsx';
import { ValueTree } from './value-tree.tsx';

interface Props {
  readonly kind: ApiKind;
  readonly object: KubeObject;
}

/** Fields of an object that have panels of their own. */
const shown = new Set(['apiVersion', 'kind', 'metadata', 'data', 'binaryData', 'stringData']);

/** Annotation that is not shown: it repeats the whole object, with the data of Secrets. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

export function OverviewTab({ kind, object }: Props) {
  const hasData = kind.key === 'configmaps' || kind.key === 'secrets';
  const fields = Object.entries(object).filter(([name]) => !shown.has(name));
  return (
    <div class="columns">
      <div class="stack">
        <Facts kind={kind} object={object} />
        {hasData && <DataPanel object={object} isSecret={kind.key === 'secrets'} />}
        <Containers object={object} />
        <PortCommands kind={kind} object={object} />
        <Conditions object={object} />
        <section class="panel" aria-label="Latest events">
          <h2>Events</h2>
          <Events object={object} limit={8} />
        </section>
      </div>
      <div class="stack">
        <Labels kind={kind} object={object} />
        {fields.length > 0 && (
          <section class="panel" aria-label="Fields">
            <h2>Fields</h2>
            {fields.map(([name, value]) => (
              <ValueTree key={name} name={name} value={value} isOpen={name === 'spec'} />
            ))}
          </section>
        )}
      </div>
    </div>
  );
}

function Facts({ kind, object }: Props) {
  const facts = useServerFacts(kind, object);
  const { creationTimestamp, ownerReferences = [], finalizers = [], namespace } = object.metadata;
  return (
    <section class="panel" aria-label="Summary">
      <dl class="facts">
        {facts.map(({ name, value, description, health }) => (
          <div key={name}>
            <dt title={description}>{name}</dt>
            <dd>
              {health ? <span class={`chip ${health}`}>{value}</span> : <span class="mono">{value}</span>}
            </dd>
          </div>
        ))}
        <div>
          <dt>Created</dt>
          <dd title={creationTimestamp}>{ageSince(creationTimestamp, now.value)} ago</dd>
        </div>
        {ownerReferences.map((owner) => (
          <div key={owner.uid}>
            <dt>Owner</dt>
            <dd>
              {owner.kind}{' '}
              <a href={objectHref(keyOfReference(owner), namespace ?? '', owner.name)}>{owner.name}</a>
            </dd>
          </div>
        ))}
        {finalizers.length > 0 && (
          <div>
            <dt>Finalizers</dt>
            <dd class="mono">{finalizers.join(', ')}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}

function Labels({ kind, object }: Props) {
  const labels = Object.entries(recordAt(object, 'metadata', 'labels'));
  const annotations = Object.entries(recordAt(object, 'metadata', 'annotations')).filter(
    ([key]) => key !== lastApplied,
  );
  return (
    <section class="panel" aria-label="Labels and annotations">
      <h2>Labels</h2>
      {labels.length === 0 && <p class="faint">None</p>}
      <ul class="chips">
        {labels.map(([key, value]) => (
          <li key={key}>
            <a class="chip" href={kindHref(kind.key, { q: `label:"${key}=${String(value)}"` })}>
              {key}={String(value)}
            </a>
          </li>
        ))}
      </ul>
      {annotations.length > 0 && (
        <details class="annotations">
          <summary>
            {annotations.length} {annotations.length === 1 ? 'annotation' : 'annotations'}
          </summary>
          <dl>
            {annotations.map(([key, value]) => (
              <div key={key}>
                <dt class="faint">{key}</dt>
                <dd class="mono">{String(value)}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </section>
  );
}

function Conditions({ object }: { readonly object: KubeObject }) {
  const conditions = conditionsOf(object);
  if (conditions.length === 0) return null;
  return (
    <section class="panel" aria-label="Conditions">
      <h2>Conditions</h2>
      <ScrollRegion label="Table of conditions">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Type</th>
              <th scope="col">Status</th>
              <th scope="col">Reason and message</th>
              <th scope="col">Since</th>
            </tr>
          </thead>
          <tbody>
            {conditions.map(({ type, status, reason, message, since, health }) => (
              <tr key={type}>
                <td>{type}</td>
                <td>
                  <span class={`chip ${health ?? ''}`}>{status}</span>
                </td>
                <td>
                  {reason} {message !== '' && <span class="faint">{message}</span>}
                </td>
                <td class="nowrap" title={since}>
                  {since === '' ? '' : ageSince(since, now.value)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </section>
  );
}
