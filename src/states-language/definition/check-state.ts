/** Checks the fields of each type of state. */
import { isObject } from '../json.ts';
import { maxSeconds } from '../limits.ts';
import { parseResource, resourceForms } from '../resource.ts';
import { choiceRules } from './check-choice.ts';
import { catchers, retriers } from './check-errors.ts';
import { checkFields, checkOneOf, type Field, type Fields } from './check-fields.ts';
import {
  anything,
  assign,
  type Check,
  flag,
  integer,
  listTemplate,
  number,
  object,
  oneOf,
  orExpression,
  type Place,
  path,
  pathOrIntrinsic,
  pathOrNull,
  referencePath,
  resultPath,
  seconds,
  stateName,
  template,
  templateObject,
  text,
  timestamp,
} from './check-values.ts';
import type { StateType } from './types.ts';

const withPath = (check: Check): Field => ({ check, language: 'JSONPath' });
const withJsonata = (check: Check): Field => ({ check, language: 'JSONata' });
const both = (check: Check): Field => ({ check });
const needed = (check: Check): Field => ({ check, required: true });

const common: Fields = {
  Type: both(anything),
  Comment: both(text),
  QueryLanguage: both(anything),
};
const flow: Fields = {
  ...common,
  InputPath: withPath(pathOrNull),
  OutputPath: withPath(pathOrNull),
  Output: withJsonata(template),
};
const onward: Fields = { ...flow, Assign: both(assign), Next: both(stateName), End: both(flag) };
const working: Fields = {
  ...onward,
  Parameters: withPath(template),
  Arguments: withJsonata(template),
  ResultSelector: withPath(templateObject),
  ResultPath: withPath(resultPath),
  Retry: both(retriers),
  Catch: both(catchers),
};

const resource: Check = (value, at, { report }) => {
  if (typeof value !== 'string' || parseResource(value) === undefined)
    report.invalid(at, value, `must be one of ${resourceForms.join(', ')}, each also as …:NAMESPACE/NAME`);
};

const distributed = 'is for maps of mode DISTRIBUTED, which are not supported; this one is INLINE';
const refused: Field = { check: anything, refused: distributed };

const byType: Readonly<Record<StateType, Fields>> = {
  Task: {
    ...working,
    Resource: needed(resource),
    TimeoutSeconds: both(orExpression(seconds)),
    TimeoutSecondsPath: withPath(referencePath),
    HeartbeatSeconds: both(orExpression(seconds)),
    HeartbeatSecondsPath: withPath(referencePath),
    Credentials: both(templateObject),
  },
  // The machines in Branches, ItemProcessor and Iterator are checked separately (check-definition.ts).
  Parallel: { ...working, Branches: needed(anything) },
  Map: {
    ...working,
    ItemProcessor: both(anything),
    Iterator: both(anything),
    ItemsPath: withPath(path),
    Items: withJsonata(orExpression(listTemplate)),
    ItemSelector: both(template),
    MaxConcurrency: both(orExpression(integer(0, maxSeconds))),
    MaxConcurrencyPath: withPath(referencePath),
    ToleratedFailureCount: both(orExpression(integer(0, maxSeconds))),
    ToleratedFailureCountPath: withPath(referencePath),
    ToleratedFailurePercentage: both(orExpression(number(0, 100))),
    ToleratedFailurePercentagePath: withPath(referencePath),
    ItemReader: refused,
    ItemBatcher: refused,
    ResultWriter: refused,
    Label: refused,
  },
  Choice: { ...flow, Assign: both(assign), Choices: needed(choiceRules), Default: both(stateName) },
  Wait: {
    ...onward,
    Seconds: both(orExpression(integer(0, maxSeconds))),
    SecondsPath: withPath(referencePath),
    Timestamp: both(orExpression(timestamp)),
    TimestampPath: withPath(referencePath),
  },
  Pass: {
    ...onward,
    Result: withPath(anything),
    Parameters: withPath(template),
    ResultPath: withPath(resultPath),
  },
  Succeed: flow,
  Fail: {
    ...common,
    Error: both(orExpression(text)),
    ErrorPath: withPath(pathOrIntrinsic),
    Cause: both(orExpression(text)),
    CausePath: withPath(pathOrIntrinsic),
  },
};

export const stateTypes = Object.keys(byType) as readonly StateType[];

type Value = Readonly<Record<string, unknown>>;

/** Checks everything except nested machines. Returns the type, or undefined if it is unknown. */
export function checkState(value: Value, at: string, place: Place): StateType | undefined {
  const type = stateTypes.find((known) => known === value.Type);
  if (type === undefined) {
    if (Object.hasOwn(value, 'Type')) place.report.notSupported(`${at}.Type`, value.Type, stateTypes);
    else place.report.required(`${at}.Type`);
    return undefined;
  }
  checkFields(value, at, place, byType[type], `a ${type} state`);
  for (const [keys, atMost] of exclusive[type] ?? []) checkOneOf(value, at, place, keys, atMost);
  if (type === 'Task') checkHeartbeat(value, at, place);
  if (Object.hasOwn(byType[type], 'End') && value.End === false && !Object.hasOwn(value, 'Next'))
    place.report.required(`${at}.Next`, 'End is false');
  return type;
}

type Exclusive = readonly [keys: readonly string[], atMost: boolean];

const next: Exclusive = [['Next', 'End'], false];
const pair = (name: string): Exclusive => [[name, `${name}Path`], true];

/** Groups of mutually exclusive fields. */
const exclusive: Readonly<Partial<Record<StateType, readonly Exclusive[]>>> = {
  Task: [next, pair('TimeoutSeconds'), pair('HeartbeatSeconds')],
  Parallel: [next],
  Map: [
    next,
    [['ItemProcessor', 'Iterator'], false],
    [['ItemSelector', 'Parameters'], true],
    pair('MaxConcurrency'),
    pair('ToleratedFailureCount'),
    pair('ToleratedFailurePercentage'),
  ],
  Wait: [next, [['Seconds', 'SecondsPath', 'Timestamp', 'TimestampPath'], false]],
  Pass: [next],
  Fail: [pair('Error'), pair('Cause')],
};

/** Rejects a heartbeat that is not shorter than the task's timeout, because it would never take effect. */
function checkHeartbeat(
  { TimeoutSeconds: timeout, HeartbeatSeconds: heartbeat }: Value,
  at: string,
  place: Place,
) {
  if (typeof timeout === 'number' && typeof heartbeat === 'number' && heartbeat >= timeout)
    place.report.invalid(
      `${at}.HeartbeatSeconds`,
      heartbeat,
      `must be less than TimeoutSeconds (${timeout})`,
    );
}

/** Checks the ProcessorConfig of an ItemProcessor. */
export const processorConfig: Check = (value, at, place) => {
  object(value, at, place);
  if (!isObject(value)) return;
  const mode: Check = (found, field) => {
    if (found === 'DISTRIBUTED') place.report.forbidden(field, 'DISTRIBUTED is not supported; use INLINE');
    else oneOf('INLINE')(found, field, place);
  };
  checkFields(value, at, place, { Mode: { check: mode }, ExecutionType: refused }, 'a ProcessorConfig');
};
