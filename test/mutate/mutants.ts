/** Small changes of a source, each of which a test should detect. */
import { type Node, parseSync } from 'oxc-parser';
import { changesOf } from './mutators.ts';

export interface Mutant {
  /** Offsets into the source, in UTF-16 code units; `replacement` replaces the text between them. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** Line number, beginning with 1. */
  readonly line: number;
  /** Description of the change in one line, such as `a < b → a <= b`. */
  readonly change: string;
}

/**
 * Returns the mutants of a source. Throws when the source, or the source with one of the changes, cannot be
 * parsed.
 */
export function mutantsOf(file: string, source: string): readonly Mutant[] {
  const { program, errors } = parseSync(file, source);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  const found = new Map<string, Mutant>();
  walk(program, [], (node, parents) => {
    for (const { start, end, replacement } of changesOf(node, parents, source)) {
      const before = source.slice(start, end);
      if (before === replacement) continue;
      const line = source.slice(0, start).split('\n').length;
      const change = `${oneLine(before)} → ${oneLine(replacement) || '(nothing)'}`;
      found.set(`${start} ${end} ${replacement}`, { start, end, replacement, line, change });
    }
  });
  const mutants = [...found.values()].sort((one, other) => one.start - other.start || one.end - other.end);
  for (const mutant of mutants) {
    const [error] = parseSync(file, mutated(source, mutant)).errors;
    if (error) throw new Error(`${file}:${mutant.line}: ${mutant.change}: ${error.message}`);
  }
  return mutants;
}

export const mutated = (source: string, { start, end, replacement }: Mutant): string =>
  source.slice(0, start) + replacement + source.slice(end);

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Parts without an effect at run time, or with names from another file. */
const passedOver = /^(Import|ExportAll|Decorator|TS(?!As|NonNull|Satisfies))/;

function walk(node: Node, parents: readonly Node[], visit: (node: Node, parents: readonly Node[]) => void) {
  if (passedOver.test(node.type) && node.type !== 'ImportExpression') return;
  visit(node, parents);
  const line = [...parents, node];
  for (const child of Object.values(node).flat()) if (isNode(child)) walk(child, line, visit);
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
