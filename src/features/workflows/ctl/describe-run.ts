/** `ctl describe workflowrun`: the progress of a run, and how it ended. Pure. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import type { Describer } from '../../../cli/describe/describer.ts';
import {
  createdLine,
  headLines,
  none,
  optionalLine,
  reasonLines,
  shownAt,
  stringsAt,
  timeText,
} from '../../../cli/describe/lines.ts';
import { textAt, valueAt } from '../../../cli/objects/objects.ts';
import { durationText } from './describe.ts';

/** Maximum number of characters of an input or an output; `ctl get -o yaml` prints the rest. */
const maxText = 200;

export const runDescriber: Describer = {
  lines: (object, _related, now) => [
    ...headLines(object),
    createdLine(object),
    `Workflow:\t${textAt(object, 'spec', 'workflow')}`,
    ...optionalLine('Part Of Run', textAt(object, 'spec', 'parent', 'name')),
    `Phase:\t${textAt(object, 'status', 'phase') || 'Pending'}`,
    ...timeLine('Started', object, 'startTime'),
    ...timeLine('Ended', object, 'completionTime'),
    `Duration:\t${durationText(object, now)}`,
    `Current States:\t${stringsAt(object, 'status', 'currentStates').join(', ') || none}`,
    `Input:\t${jsonText(object, 'spec', 'input')}`,
    `Output:\t${jsonText(object, 'status', 'output')}`,
    ...optionalLine('Error', textAt(object, 'status', 'error')),
    ...optionalLine('Cause', textAt(object, 'status', 'cause').split('\n', 1)[0] ?? ''),
    `History:\t${shownAt(object, 'status', 'historyCount') || '0'} entries; minik8s ctl workflow history prints them`,
    ...reasonLines(object),
  ],
};

const timeLine = (title: string, object: JsonObject, field: string): string[] => {
  const time = textAt(object, 'status', field);
  return time ? [`${title}:\t${timeText(time)}`] : [];
};

function jsonText(object: JsonObject, ...path: readonly string[]): string {
  const value = valueAt(object, ...path);
  if (value === undefined) return none;
  const text = JSON.stringify(value);
  return text.length > maxText ? `${text.slice(0, maxText)}...` : text;
}
