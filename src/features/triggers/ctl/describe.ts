/** `ctl describe trigger`: its source and target, its deliveries and its dead letters. Pure. */
import { ageSince } from '../../../apimachinery/age.ts';
import type { JsonObject } from '../../../apimachinery/equality.ts';
import type { Describer, Found } from '../../../cli/describe/describer.ts';
import {
  createdLine,
  headLines,
  none,
  optionalLine,
  reasonLines,
  shownAt,
  tableLines,
  timeText,
} from '../../../cli/describe/lines.ts';
import { metadataOf, numberAt, recordAt, textAt } from '../../../cli/objects/objects.ts';
import { triggerSource } from '../../../views/trigger-source.ts';

/** Maximum number of events that each table has. */
const maxEvents = 5;

export const triggerDescriber: Describer = {
  needs(object) {
    const { name, namespace } = metadataOf(object);
    const fieldSelector = `spec.trigger=${name}`;
    return {
      events: { apiVersion: 'minik8s.io/v1', kind: 'TriggerEvent', namespace, fieldSelector },
    };
  },
  lines: (object, related, now) => [
    ...headLines(object),
    createdLine(object),
    `Source:\t${triggerSource(object)}`,
    `Target:\t${textAt(object, 'spec', 'target', 'kind') || 'Function'}/${textAt(object, 'spec', 'target', 'name')}`,
    ...optionalLine('Suspended', shownAt(object, 'spec', 'suspend').replace('false', '')),
    ...retryLines(recordAt(object, 'spec', 'retry')),
    ...deliveryLines(recordAt(object, 'status'), now),
    ...eventTables(related('events'), now),
    ...reasonLines(object),
  ],
};

const retryLines = (retry: JsonObject): string[] => {
  const [attempts, least, most] = ['maxAttempts', 'minSeconds', 'maxSeconds'].map((one) =>
    shownAt(retry, one),
  );
  return attempts ? [`Attempts:\tat most ${attempts}, ${least}s to ${most}s apart`] : [];
};

function deliveryLines(status: JsonObject, now: number): string[] {
  const last = textAt(status, 'lastTime');
  return [
    'Deliveries:',
    `  Delivered:\t${numberAt(status, 'delivered')}`,
    `  Waiting:\t${numberAt(status, 'pending')}`,
    `  Failed:\t${numberAt(status, 'failed')}`,
    `  Dead Letters:\t${numberAt(status, 'deadLetters')}`,
    `  Last:\t${last ? `${timeText(last)} (${ageSince(last, now)} ago)` : none}`,
  ];
}

/** Returns the newest events that wait, and the newest dead letters. */
function eventTables({ items, refused }: Found, now: number): string[] {
  if (refused !== undefined) return [`Dead Letters:\t${refused}`];
  const newest = items.toSorted((a, b) => (textAt(a, 'spec', 'time') < textAt(b, 'spec', 'time') ? 1 : -1));
  const isDead = (event: JsonObject) => textAt(event, 'status', 'phase') === 'Failed';
  const rows = (events: readonly JsonObject[]) =>
    events
      .slice(0, maxEvents)
      .map((event) => [
        metadataOf(event).name,
        ageSince(textAt(event, 'spec', 'time'), now),
        String(numberAt(event, 'status', 'attempts')),
        lastError(event),
      ]);
  const headers = ['Event', 'Age', 'Attempts', 'Last Error'];
  const waiting = newest.filter((event) => !isDead(event));
  return [
    ...(waiting.length > 0 ? tableLines('Waiting Events', headers, rows(waiting)) : []),
    ...tableLines('Dead Letters', headers, rows(newest.filter(isDead))),
  ];
}

const lastError = (event: JsonObject): string =>
  textAt(event, 'status', 'lastError').split('\n', 1)[0] || none;
