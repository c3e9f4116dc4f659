/** Converts a definition to a graph of its transitions. */
import type { Comparison, Machine, State } from '../definition/types.ts';
import { machinesOf } from '../definition/types.ts';

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** Label; empty for the ordinary transition. */
  readonly label: string;
}

export interface Group {
  /** Identifies the machine of the state: a branch or the iterations. */
  readonly label: string;
  readonly graph: Graph;
}

export interface Node {
  readonly name: string;
  readonly type: State['Type'];
  /** True if the machine ends here. */
  readonly ends: boolean;
  readonly groups: readonly Group[];
}

/** States in the order in which they are reached from the start. */
export interface Graph {
  readonly start: string;
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
}

export function graphOf(machine: Machine): Graph {
  const nodes: Node[] = [];
  const edges: Edge[] = [];
  const reached = new Set([machine.StartAt]);
  for (const name of reached) {
    const state = machine.States[name];
    if (state === undefined) continue;
    const ways = edgesOf(name, state);
    edges.push(...ways);
    for (const { to } of ways) reached.add(to);
    const groups = machinesOf(state).map((inner, index) => ({
      label: state.Type === 'Map' ? 'each item' : `branch ${index + 1}`,
      graph: graphOf(inner),
    }));
    const ends = state.Type === 'Succeed' || state.Type === 'Fail' || ('End' in state && state.End === true);
    nodes.push({ name, type: state.Type, ends, groups });
  }
  return { start: machine.StartAt, nodes, edges };
}

function edgesOf(from: string, state: State): Edge[] {
  const edges: Edge[] = state.Type === 'Choice' ? choicesOf(from, state) : [];
  if ('Next' in state && state.Next !== undefined) edges.push({ from, to: state.Next, label: '' });
  if ('Catch' in state)
    for (const { ErrorEquals, Next } of state.Catch ?? [])
      edges.push({ from, to: Next, label: `on ${ErrorEquals.join(', ')}` });
  return edges;
}

function choicesOf(from: string, { Choices, Default }: Extract<State, { Type: 'Choice' }>): Edge[] {
  const edges = Choices.map((rule) => ({ from, to: rule.Next, label: labelOf(rule) }));
  if (Default !== undefined) edges.push({ from, to: Default, label: 'otherwise' });
  return edges;
}

/** Maximum characters of a label. */
const maxLabel = 60;

function labelOf(rule: Comparison): string {
  const text = ruleText(rule);
  return text.length > maxLabel ? `${text.slice(0, maxLabel - 1)}…` : text;
}

/** Returns a rule as one line, such as `$.value NumericEquals 20`. */
function ruleText(rule: Comparison): string {
  if (typeof rule.Condition === 'string') return rule.Condition.replace(/^\{%\s*|\s*%\}$/g, '');
  if (rule.Condition !== undefined) return String(rule.Condition);
  if (rule.Not !== undefined) return `not (${ruleText(rule.Not)})`;
  if (rule.And !== undefined) return rule.And.map(ruleText).join(' and ');
  if (rule.Or !== undefined) return rule.Or.map(ruleText).join(' or ');
  const [name = '', operand] = Object.entries(rule).find(([key]) => !notOperators.has(key)) ?? [];
  return `${rule.Variable} ${name} ${typeof operand === 'string' ? operand : JSON.stringify(operand)}`;
}

const notOperators = new Set(['Variable', 'Next', 'Assign', 'Comment']);
