/** Evaluates paths and expressions in a state: its data, the variables, the context object. */
import { languageOf, type QueryLanguage, type State } from '../definition/types.ts';
import { stateError } from '../failure.ts';
import type { Json, JsonObject } from '../json.ts';
import { fillExpressions } from '../jsonata/expression.ts';
import { evaluateText, fillTemplate, type Source } from '../templates/payload.ts';
import { Work } from '../work.ts';
import { wayOf } from './state.ts';
import type { Frame, Turn } from './turn.ts';

type Item = { readonly index: number; readonly value: Json };

/** Fields of JSONata's `$states` other than the context. */
export interface StateValues {
  readonly input: Json;
  readonly result?: Json;
  readonly errorOutput?: Json;
}

export class Query {
  readonly language: QueryLanguage;
  readonly turn: Turn;
  private readonly frame: Frame;
  /** Item of a Map for which its ItemSelector is evaluated. */
  private readonly item: Item | undefined;
  private readonly work: Work;

  constructor(turn: Turn, frame: Frame, state: State, item?: Item) {
    this.language = languageOf(state, turn.language);
    this.turn = turn;
    this.frame = frame;
    this.item = item;
    this.work = new Work((values) => turn.worked(values));
  }

  /** Fills a template of JSONPath in which `$` is `input`. */
  fill(template: Json, input: Json): Json {
    return fillTemplate(template, this.source(input));
  }

  /** Evaluates a path or an intrinsic function. Throws States.Runtime if it finds nothing. */
  at(path: string, input: Json): Json {
    return evaluateText(path, this.source(input));
  }

  source(input: Json): Source {
    const variables = variablesOf(this.frame);
    return {
      input,
      context: this.context(),
      variable: (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined),
      random: this.turn.ports.random,
      work: this.work,
    };
  }

  /** Fills a template with JSONata expressions. */
  express(template: Json, values: StateValues): Promise<Json> {
    const { now, random, evaluate } = this.turn.ports;
    const states = { ...values, context: this.context() };
    const bindings = { ...variablesOf(this.frame), states };
    return fillExpressions(template, (expression) =>
      evaluate({ expression, bindings, now, seed: Math.floor(random.next() * 2 ** 32) }),
    );
  }

  /**
   * Returns a number from one of two fields: the value itself (with JSONata also an expression), or a path to
   * it.
   */
  async number(
    name: string,
    value: Json | undefined,
    path: string | undefined,
    input: Json,
    [least, most]: readonly [number, number],
    whole = true,
  ): Promise<number | undefined> {
    let found: Json | undefined;
    if (path !== undefined) found = this.at(path, input);
    else if (value !== undefined)
      found = this.language === 'JSONata' ? await this.express(value, { input }) : value;
    if (found === undefined) return undefined;
    if (typeof found === 'number' && found >= least && found <= most && (!whole || Number.isInteger(found)))
      return found;
    throw stateError(
      'States.Runtime',
      `${name} must be ${whole ? 'an integer' : 'a number'} from ${least} to ${most}, not ${JSON.stringify(found).slice(0, 100)}`,
    );
  }

  private context(): JsonObject {
    const { execution, input, started } = this.turn.state;
    const { branch, prefix } = this.frame;
    const item = this.item ?? itemOf(this.frame);
    return {
      Execution: { Id: execution.id, Name: execution.name, Input: input, StartTime: timeText(started) },
      StateMachine: { Id: execution.workflow.id, Name: execution.workflow.name },
      State: { Name: branch.state, EnteredTime: timeText(branch.entered), RetryCount: branch.attempt },
      Task: { Token: wayOf(prefix, branch) },
      ...(item !== undefined && { Map: { Item: { Index: item.index, Value: item.value } } }),
    };
  }
}

const timeText = (ms: number) => new Date(ms).toISOString();

/** Returns the item of the innermost surrounding iteration. */
function itemOf(frame: Frame | undefined): Item | undefined {
  return frame && (frame.branch.item ?? itemOf(frame.outer));
}

function variablesOf(frame: Frame): Readonly<Record<string, Json>> {
  const own = frame.branch.variables ?? {};
  return frame.outer === undefined ? own : { ...variablesOf(frame.outer), ...own };
}
