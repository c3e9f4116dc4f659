/** A definition in Amazon States Language that has passed `checkDefinition`. */
import type { Json, JsonObject } from '../json.ts';

export type QueryLanguage = 'JSONPath' | 'JSONata';

/** The machine of a workflow, of a branch of a Parallel, or of the iterations of a Map. */
export interface Machine {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
  readonly Comment?: string;
  readonly QueryLanguage?: QueryLanguage;
}

export interface Definition extends Machine {
  readonly Version?: string;
  readonly TimeoutSeconds?: number;
}

export type StateType = State['Type'];
export type State = Task | Parallel | MapState | Choice | Wait | Pass | Succeed | Fail;

/** A number or, with JSONata, an expression for one. */
export type NumberOrExpression = number | string;

interface Common {
  readonly Comment?: string;
  readonly QueryLanguage?: QueryLanguage;
  readonly InputPath?: string | null;
  readonly OutputPath?: string | null;
  readonly Output?: Json;
  readonly Assign?: JsonObject;
}

/** Exactly one of the two is present. */
interface Onward {
  readonly Next?: string;
  readonly End?: boolean;
}

/** A state that computes a result and may fail. */
interface Working extends Common, Onward {
  readonly Parameters?: Json;
  readonly Arguments?: Json;
  readonly ResultSelector?: JsonObject;
  readonly ResultPath?: string | null;
  readonly Retry?: readonly Retrier[];
  readonly Catch?: readonly Catcher[];
}

export interface Retrier {
  readonly ErrorEquals: readonly string[];
  readonly IntervalSeconds?: number;
  readonly MaxAttempts?: number;
  readonly BackoffRate?: number;
  readonly MaxDelaySeconds?: number;
  readonly JitterStrategy?: 'FULL' | 'NONE';
}

export interface Catcher {
  readonly ErrorEquals: readonly string[];
  readonly Next: string;
  readonly ResultPath?: string | null;
  readonly Output?: Json;
  readonly Assign?: JsonObject;
}

export interface Task extends Working {
  readonly Type: 'Task';
  readonly Resource: string;
  readonly TimeoutSeconds?: NumberOrExpression;
  readonly TimeoutSecondsPath?: string;
  readonly HeartbeatSeconds?: NumberOrExpression;
  readonly HeartbeatSecondsPath?: string;
  readonly Credentials?: Json;
}

export interface Parallel extends Working {
  readonly Type: 'Parallel';
  readonly Branches: readonly Machine[];
}

export interface MapState extends Working {
  readonly Type: 'Map';
  /** Exactly one of the two is present. */
  readonly ItemProcessor?: Machine;
  readonly Iterator?: Machine;
  readonly ItemsPath?: string;
  readonly Items?: Json;
  readonly ItemSelector?: Json;
  readonly MaxConcurrency?: NumberOrExpression;
  readonly MaxConcurrencyPath?: string;
  readonly ToleratedFailureCount?: NumberOrExpression;
  readonly ToleratedFailureCountPath?: string;
  readonly ToleratedFailurePercentage?: NumberOrExpression;
  readonly ToleratedFailurePercentagePath?: string;
}

export interface Choice extends Common {
  readonly Type: 'Choice';
  readonly Choices: readonly ChoiceRule[];
  readonly Default?: string;
}

/** A rule: a Comparison with JSONPath, a Condition with JSONata. */
export type ChoiceRule = Comparison & {
  readonly Next: string;
  readonly Condition?: string | boolean;
  readonly Output?: Json;
  readonly Assign?: JsonObject;
};

/** `And`, `Or` or `Not`; or `Variable` and one operator (choice/operators.ts). */
export interface Comparison {
  readonly And?: readonly Comparison[];
  readonly Or?: readonly Comparison[];
  readonly Not?: Comparison;
  readonly Variable?: string;
  readonly [operator: string]: unknown;
}

export interface Wait extends Common, Onward {
  readonly Type: 'Wait';
  readonly Seconds?: NumberOrExpression;
  readonly SecondsPath?: string;
  readonly Timestamp?: string;
  readonly TimestampPath?: string;
}

export interface Pass extends Common, Onward {
  readonly Type: 'Pass';
  readonly Result?: Json;
  readonly Parameters?: Json;
  readonly ResultPath?: string | null;
}

export interface Succeed extends Common {
  readonly Type: 'Succeed';
}

export interface Fail {
  readonly Type: 'Fail';
  readonly Comment?: string;
  readonly QueryLanguage?: QueryLanguage;
  readonly Error?: string;
  readonly ErrorPath?: string;
  readonly Cause?: string;
  readonly CausePath?: string;
}

/** Returns the machine that processes each item of a Map. */
export const processorOf = ({ ItemProcessor, Iterator }: MapState): Machine => {
  const machine = ItemProcessor ?? Iterator;
  if (machine === undefined) throw new Error('a Map has neither ItemProcessor nor Iterator');
  return machine;
};

/** Returns the machines nested in a state. */
export function machinesOf(state: State): readonly Machine[] {
  if (state.Type === 'Parallel') return state.Branches;
  return state.Type === 'Map' ? [processorOf(state)] : [];
}

/** Returns the query language of a state: its own, or that of the whole definition. */
export const languageOf = (
  state: { readonly QueryLanguage?: QueryLanguage },
  whole?: QueryLanguage,
): QueryLanguage => state.QueryLanguage ?? whole ?? 'JSONPath';
