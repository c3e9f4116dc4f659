/** Explanations as text and as JSON. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { Chain, Problem, Step } from '../../why/explain.ts';
import { nameOf, type ObjectRef, whyKinds } from '../../why/kinds.ts';
import type { Mend } from '../../why/rule.ts';
import { shown } from '../printers/table-writer.ts';

/** Last lines of the log of a container, by the step of the chain whose finding requests them. */
export type Logs = ReadonlyMap<Step, readonly string[]>;

export interface TextOptions {
  /** Name by which the client is called, such as `minik8s ctl`. */
  readonly program: string;
  readonly logs: Logs;
  /** True if names are printed with their namespaces. */
  readonly withNamespaces: boolean;
}

/** Maximum number of further objects with the same problem that the text names. */
const shownSubjects = 5;

/**
 * Returns an explanation: a line for each object from the first to the one that is the cause, then the
 * evidence and what mends it.
 */
export function chainText(chain: Chain, options: TextOptions): string {
  const lines = chain.map(
    ({ about, finding }, depth) => `${'  '.repeat(depth)}${name(about, options)}: ${oneLine(finding.says)}`,
  );
  const last = chain.at(-1);
  return `${[...lines, ...(last ? details(last, options, '  '.repeat(chain.length)) : [])].join('\n')}\n`;
}

/** Returns the explanation of a problem, with the other objects that have it. */
export function problemText({ chain, subjects }: Problem, options: TextOptions): string {
  const others = subjects.slice(1).map((subject) => name(subject, options));
  if (others.length === 0) return chainText(chain, options);
  const more = others.length > shownSubjects ? `, and ${others.length - shownSubjects} more` : '';
  return `${chainText(chain, options)}  also: ${others.slice(0, shownSubjects).join(', ')}${more}\n`;
}

function name(ref: ObjectRef, { withNamespaces }: TextOptions): string {
  return withNamespaces && ref.namespace !== '' ? `${ref.namespace}/${nameOf(ref)}` : nameOf(ref);
}

function details(step: Step, { program, logs }: TextOptions, indent: string): string[] {
  const { evidence = [], mend = [] } = step.finding;
  const log = logs.get(step) ?? [];
  return [
    ...evidence.map((line) => `${indent}| ${oneLine(line)}`),
    ...log.map((line) => `${indent}> ${oneLine(line)}`),
    ...mend.map((one, i) => `${indent}${i === 0 ? 'mend' : '  or'}: ${mendText(one, program)}`),
  ];
}

const mendText = (mend: Mend, program: string): string =>
  'advice' in mend
    ? oneLine(mend.advice)
    : `${program} ${oneLine(mend.command)}${mend.about === undefined ? '' : `  (${mend.about})`}`;

const oneLine = (text: string) => shown(text.replaceAll(/\s*\n\s*/g, ' '));

/** Returns explanations as an object for `-o json` and `yaml`. */
export function whyObject(problems: readonly Problem[], { program, logs }: TextOptions): JsonObject {
  return {
    kind: 'Explanation',
    problems: problems.map(({ chain, subjects }) => ({
      subjects: subjects.map(refObject),
      chain: chain.map((step) => stepObject(step, program, logs)),
    })),
  };
}

function stepObject(step: Step, program: string, logs: Logs): JsonObject {
  const { about, rule, finding } = step;
  const { severity, says, evidence = [], mend = [] } = finding;
  return {
    object: refObject(about),
    rule,
    severity,
    says,
    evidence: [...evidence],
    ...(logs.has(step) && { log: [...(logs.get(step) ?? [])] }),
    mend: mend.map((one) =>
      'advice' in one ? { ...one } : { ...one, command: `${program} ${one.command}` },
    ),
  };
}

const refObject = ({ key, namespace, name: objectName }: ObjectRef): JsonObject => ({
  kind: whyKinds[key].kind,
  ...(namespace !== '' && { namespace }),
  name: objectName,
});
