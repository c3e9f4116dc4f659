/** The page of triggers: where their events come from, and the events that were not delivered. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ageSince } from '../../../../apimachinery/age.ts';
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { metadataOf, numberAt, textAt, valueAt } from '../../../../apimachinery/fields.ts';
import { patchTypes } from '../../../../apimachinery/patch.ts';
import { objectPath } from '../../../../client/resource-path.ts';
import { isDeadLetter, replayPatch } from '../../../../views/trigger-events.ts';
import { triggerSource } from '../../../../views/trigger-source.ts';
import { conditionOf } from '../../../../why/pod-facts.ts';
import { may } from '../../cluster/access.ts';
import { kindsByKey } from '../../cluster/kinds.ts';
import { sendJson } from '../../cluster/request.ts';
import { seen } from '../../cluster/seen.ts';
import { notify, orNotify } from '../../shell/dialog.tsx';
import { objectHref } from '../../shell/plan/addresses.ts';
import { namespace } from '../../shell/scope.ts';
import { ScopeChoice } from '../../shell/scope-choice.tsx';
import { now } from '../../shell/screen.ts';
import { scrollable } from '../../shell/scrollable.ts';
import type { Page } from '../page.ts';

const triggersKey = 'triggers.minik8s.io';
const eventsKey = 'triggerevents.minik8s.io';
const targetKeys: Readonly<Record<string, string>> = {
  Function: 'functions.minik8s.io',
  Workflow: 'workflows.minik8s.io',
};

function Triggers() {
  useEffect(() => {
    document.title = 'Triggers · minik8s';
  }, []);
  const scope = { namespace: namespace.value };
  const [triggers, events] = [seen(triggersKey, scope), seen(eventsKey, scope)];
  const byTrigger = Map.groupBy(
    events.items,
    (event) => `${metadataOf(event).namespace}/${textAt(event, 'spec', 'trigger')}`,
  );
  const dead = events.items.filter(isDeadLetter).length;
  return (
    <div class="page">
      <div class="head">
        <h1>Triggers</h1>
        <span class="count" role="status">
          {triggers.synced
            ? `${triggers.items.length}${dead > 0 ? `, ${dead} dead letters` : ''}`
            : 'Loading…'}
        </span>
        <span class="grow" />
        <ScopeChoice />
      </div>
      {triggers.refused && (
        <p class="notice bad">You may not list the triggers here. Choose another namespace.</p>
      )}
      {triggers.synced && !triggers.refused && triggers.items.length === 0 && (
        <p class="empty">No triggers here.</p>
      )}
      <div class="cards">
        {triggers.items.map((trigger) => {
          const id = `${metadataOf(trigger).namespace}/${metadataOf(trigger).name}`;
          return <TriggerCard key={id} trigger={trigger} events={byTrigger.get(id) ?? []} />;
        })}
      </div>
    </div>
  );
}

function TriggerCard({
  trigger,
  events,
}: {
  readonly trigger: JsonObject;
  readonly events: readonly JsonObject[];
}) {
  const { namespace: of, name } = metadataOf(trigger);
  const [kind, target] = [
    textAt(trigger, 'spec', 'target', 'kind') || 'Function',
    textAt(trigger, 'spec', 'target', 'name'),
  ];
  const ready = conditionOf(trigger, 'Ready');
  const isSuspended = valueAt(trigger, 'spec', 'suspend') === true;
  const last = textAt(trigger, 'status', 'lastTime');
  const countOf = (field: string) => numberAt(trigger, 'status', field);
  return (
    <article class="panel card" aria-label={name}>
      <header>
        <h2>
          <a href={objectHref(triggersKey, of, name)}>{name}</a>
        </h2>
        {isSuspended ? (
          <span class="chip waiting">suspended</span>
        ) : (
          <span class={`chip ${ready?.status === 'True' ? 'good' : 'bad'}`}>
            {ready?.status === 'True' ? 'ready' : 'not ready'}
          </span>
        )}
        <span class="grow" />
        <span class="faint">{of}</span>
      </header>
      <p>
        {triggerSource(trigger)} →{' '}
        <a href={objectHref(targetKeys[kind] ?? '', of, target)}>{`${kind} ${target}`}</a>
      </p>
      {ready?.status === 'False' && <p class="notice">{textAt(ready, 'message')}</p>}
      <dl class="facts numbers">
        <Amount title="Delivered" value={countOf('delivered')} />
        <Amount title="Pending" value={countOf('pending')} />
        <Amount title="Failed" value={countOf('failed')} isBad={countOf('failed') > 0} />
        <Amount title="Discarded" value={countOf('discarded')} isBad={countOf('discarded') > 0} />
      </dl>
      {last !== '' && <p class="faint">Last event {ageSince(last, now.value)} ago</p>}
      <DeadLetters events={events.filter(isDeadLetter)} />
    </article>
  );
}

const Amount = ({
  title,
  value,
  isBad = false,
}: {
  readonly title: string;
  readonly value: number;
  readonly isBad?: boolean;
}) => (
  <div>
    <dt>{title}</dt>
    <dd class={isBad ? 'bad' : undefined}>{value}</dd>
  </div>
);

const attemptsText = (count: number) => `${count} ${count === 1 ? 'attempt' : 'attempts'}`;

async function replay(event: JsonObject): Promise<void> {
  const kind = kindsByKey.value.get(eventsKey);
  const { name, namespace: of } = metadataOf(event);
  if (kind) await sendJson('PATCH', objectPath(kind, name, of), replayPatch(event), patchTypes.merge);
}

function DeadLetters({ events }: { readonly events: readonly JsonObject[] }) {
  const isBusy = useSignal(false);
  const kind = kindsByKey.value.get(eventsKey);
  const [first] = events;
  if (!first || !kind) return null;
  const mayReplay = may('patch', kind, metadataOf(first).namespace);
  const all = async () => {
    isBusy.value = true;
    try {
      for (const event of events) await replay(event);
      notify(`${events.length} dead letters are delivered again.`);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <section class="dead-letters" aria-label="Dead letters">
      <header>
        <h3 class="bad">
          {events.length} dead {events.length === 1 ? 'letter' : 'letters'}
        </h3>
        <span class="grow" />
        {mayReplay && events.length > 1 && (
          <button type="button" disabled={isBusy.value} onClick={() => void orNotify(all)}>
            Deliver all again
          </button>
        )}
      </header>
      {events.slice(0, 20).map((event) => (
        <Letter key={metadataOf(event).name} event={event} mayReplay={mayReplay} />
      ))}
      {events.length > 20 && <p class="faint">and {events.length - 20} more</p>}
    </section>
  );
}

function Letter({ event, mayReplay }: { readonly event: JsonObject; readonly mayReplay: boolean }) {
  const { name } = metadataOf(event);
  const again = async () => {
    await replay(event);
    notify(`${name} is delivered again.`);
  };
  return (
    <details class="letter">
      <summary>
        <span class="letter-error">{textAt(event, 'status', 'lastError') || 'not delivered'}</span>
        <span class="faint nowrap">
          {attemptsText(numberAt(event, 'status', 'attempts'))},{' '}
          {ageSince(textAt(event, 'spec', 'time'), now.value)} ago
        </span>
      </summary>
      <p class="faint">
        {textAt(event, 'spec', 'type')} from {textAt(event, 'spec', 'source')}{' '}
        {textAt(event, 'spec', 'subject')}
      </p>
      <pre class="data" {...scrollable}>
        {JSON.stringify(valueAt(event, 'spec', 'data') ?? null, null, 2)}
      </pre>
      {mayReplay && (
        <button type="button" onClick={() => void orNotify(again)}>
          Deliver again
        </button>
      )}
    </details>
  );
}

export const triggersPage: Page = {
  ...{ path: 'triggers', title: 'Triggers', group: 'Work', needs: triggersKey },
  icon: 'M13 3L5 14h6l-1 7 8-11h-6z',
  component: Triggers,
};
