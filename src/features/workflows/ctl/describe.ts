/** `ctl describe workflow`: the states of the definition, and the last runs. Pure. */
import { ageSince, humanDuration } from '../../../apimachinery/age.ts';
import { isRecord, type JsonObject } from '../../../apimachinery/equality.ts';
import type { Describer, Found } from '../../../cli/describe/describer.ts';
import {
  createdLine,
  headLines,
  none,
  optionalLine,
  reasonLines,
  shownAt,
  tableLines,
} from '../../../cli/describe/lines.ts';
import { metadataOf, recordAt, recordsAt, textAt } from '../../../cli/objects/objects.ts';

/** Maximum number of runs that are listed. */
const maxRuns = 5;

export const workflowDescriber: Describer = {
  needs(object) {
    const { name, namespace } = metadataOf(object);
    const fieldSelector = `spec.workflow=${name}`;
    return { runs: { apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', namespace, fieldSelector } };
  },
  lines(object, related, now) {
    const definition = recordAt(object, 'spec', 'definition');
    return [
      ...headLines(object),
      createdLine(object),
      ...optionalLine('Comment', textAt(definition, 'Comment')),
      `Service Account:\t${textAt(object, 'spec', 'serviceAccountName') || 'default'}`,
      `Starts At:\t${textAt(definition, 'StartAt') || none}`,
      ...tableLines('Steps', ['Name', 'Type', 'Calls', 'Then'], stepRows(definition)),
      `Active Runs:\t${shownAt(object, 'status', 'active') || '0'}`,
      ...runLines(related('runs'), now),
      ...reasonLines(object),
    ];
  },
};

/** Returns a row for each state; the states inside a Map or a Parallel are indented below it. */
function stepRows(definition: JsonObject, indent = ''): string[][] {
  return Object.entries(recordAt(definition, 'States')).flatMap(([name, state]) => {
    if (!isRecord(state)) return [];
    const inner = [
      ...recordsAt(state, 'Branches'),
      ...['ItemProcessor', 'Iterator'].map((field) => recordAt(state, field)),
    ];
    const calls = textAt(state, 'Resource') || none;
    return [
      [`${indent}${name}`, textAt(state, 'Type'), calls, nextText(state)],
      ...inner.flatMap((one) => stepRows(one, `${indent}  `)),
    ];
  });
}

/** Returns the names of the states that may follow; a state that ends the run has none. */
function nextText(state: JsonObject): string {
  const choices = recordsAt(state, 'Choices').map((choice) => textAt(choice, 'Next'));
  const errors = recordsAt(state, 'Catch').map((one) => `${textAt(one, 'Next')} on error`);
  const all = [...choices, textAt(state, 'Next'), textAt(state, 'Default'), ...errors].filter(Boolean);
  return [...new Set(all)].join(', ') || '<end>';
}

function runLines({ items, refused }: Found, now: number): string[] {
  if (refused !== undefined) return [`Last Runs:\t${refused}`];
  const created = (run: JsonObject) => textAt(run, 'metadata', 'creationTimestamp');
  const rows = items
    .toSorted((a, b) => (created(a) < created(b) ? 1 : -1))
    .slice(0, maxRuns)
    .map((run) => [
      metadataOf(run).name,
      textAt(run, 'status', 'phase') || 'Pending',
      ageSince(created(run), now),
      durationText(run, now),
      textAt(run, 'status', 'error') || none,
    ]);
  return tableLines('Last Runs', ['Name', 'Phase', 'Age', 'Duration', 'Error'], rows);
}

/** Returns the time from the start of a run to its end, or to now if it has not ended. */
export function durationText(run: JsonObject, now: number): string {
  const [start, end] = ['startTime', 'completionTime'].map((field) => textAt(run, 'status', field));
  if (!start) return none;
  return humanDuration((end ? Date.parse(end) : now) - Date.parse(start));
}
