/** Jobs and CronJobs. Pure. */
import { humanDuration } from '../../apimachinery/age.ts';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, numberAt, recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';
import type { Describer } from './describer.ts';
import {
  controlledByLines,
  headLines,
  labelsAndAnnotations,
  none,
  optionalLine,
  selectorText,
  shownAt,
  shownOrUnset,
  timeText,
  unset,
} from './lines.ts';
import { podTemplateLines } from './pod-template.ts';

const deadlineLine = (spec: JsonObject): string[] => {
  const seconds = shownAt(spec, 'activeDeadlineSeconds');
  return seconds ? [`Active Deadline Seconds:\t${seconds}s`] : [];
};

export const job: Describer = {
  lines(object) {
    const { name, namespace } = metadataOf(object);
    const spec = recordAt(object, 'spec');
    const indexed = spec.completionMode === 'Indexed';
    return [
      `Name:\t${name}`,
      `Namespace:\t${namespace}`,
      `Selector:\t${selectorText(recordAt(spec, 'selector'))}`,
      ...labelsAndAnnotations(object),
      ...controlledByLines(object),
      ...optionalLine('Parallelism', shownAt(spec, 'parallelism')),
      `Completions:\t${shownOrUnset(spec, 'completions')}`,
      ...optionalLine('Completion Mode', textAt(spec, 'completionMode')),
      ...optionalLine('Suspend', shownAt(spec, 'suspend')),
      ...optionalLine('Backoff Limit', shownAt(spec, 'backoffLimit')),
      ...optionalLine('TTL Seconds After Finished', shownAt(spec, 'ttlSecondsAfterFinished')),
      ...timeLines(recordAt(object, 'status')),
      ...deadlineLine(spec),
      podsLine(recordAt(object, 'status')),
      ...(indexed ? [`Completed Indexes:\t${indexText(textAt(object, 'status', 'completedIndexes'))}`] : []),
      ...podTemplateLines(recordAt(spec, 'template')),
    ];
  },
};

function timeLines(status: JsonObject): string[] {
  const [started, completed] = [textAt(status, 'startTime'), textAt(status, 'completionTime')];
  return [
    ...(started ? [`Start Time:\t${timeText(started)}`] : []),
    ...(completed ? [`Completed At:\t${timeText(completed)}`] : []),
    ...(started && completed
      ? [`Duration:\t${humanDuration(Date.parse(completed) - Date.parse(started))}`]
      : []),
  ];
}

function podsLine(status: JsonObject): string {
  const of = (field: string) => numberAt(status, field);
  const ready = status.ready === undefined ? '' : ` (${of('ready')} Ready)`;
  return `Pods Statuses:\t${of('active')} Active${ready} / ${of('succeeded')} Succeeded / ${of('failed')} Failed`;
}

const indexLimit = 50;

/** Returns completed indexes, cut at the first comma after 50 characters. */
function indexText(indexes: string): string {
  if (indexes === '') return none;
  const cut = indexes.indexOf(',', indexLimit);
  return cut < 0 ? indexes : `${indexes.slice(0, cut + 1)}...`;
}

export const cronJob: Describer = {
  lines(object) {
    const spec = recordAt(object, 'spec');
    const job = recordAt(spec, 'jobTemplate', 'spec');
    const last = textAt(object, 'status', 'lastScheduleTime');
    const active = recordsAt(object, 'status', 'active').map((one) => textAt(one, 'name'));
    const deadline = shownAt(spec, 'startingDeadlineSeconds');
    return [
      ...headLines(object),
      `Schedule:\t${textAt(spec, 'schedule')}`,
      // kubectl leaves out the zone in which the schedule is read.
      ...optionalLine('Time Zone', textAt(spec, 'timeZone')),
      `Concurrency Policy:\t${textAt(spec, 'concurrencyPolicy')}`,
      `Suspend:\t${booleanText(spec.suspend)}`,
      `Successful Job History Limit:\t${shownOrUnset(spec, 'successfulJobsHistoryLimit')}`,
      `Failed Job History Limit:\t${shownOrUnset(spec, 'failedJobsHistoryLimit')}`,
      `Starting Deadline Seconds:\t${deadline ? `${deadline}s` : unset}`,
      `Selector:\t${isRecord(valueAt(job, 'selector')) ? selectorText(recordAt(job, 'selector')) : unset}`,
      `Parallelism:\t${shownOrUnset(job, 'parallelism')}`,
      `Completions:\t${shownOrUnset(job, 'completions')}`,
      ...deadlineLine(job),
      ...podTemplateLines(recordAt(job, 'template')),
      `Last Schedule Time:\t${last ? timeText(last) : unset}`,
      `Active Jobs:\t${active.join(', ') || none}`,
    ];
  },
};

/** Returns `True` or `False`, and `<unset>` for a missing value. */
export const booleanText = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : unset;
