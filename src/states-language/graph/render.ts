/**
 * Renders a graph of states as text, as DOT (Graphviz) or as Mermaid. Names of a definition are quoted for
 * each format.
 */
import type { Machine } from '../definition/types.ts';
import { type Graph, graphOf, type Node } from './edges.ts';

export type GraphFormat = 'text' | 'dot' | 'mermaid';

/** Returns the graph of a definition; the last line ends with a newline. */
export function graph(definition: Machine, format: GraphFormat): string {
  const found = graphOf(definition);
  const lines = { text: textLines, dot: dotLines, mermaid: mermaidLines }[format](found);
  return `${lines.join('\n')}\n`;
}

function textLines(graph: Graph): string[] {
  return graph.nodes.flatMap((node) => [
    `${node.name === graph.start ? '→ ' : '  '}${plain(node.name)} [${node.type}]${node.ends ? ' ■' : ''}`,
    ...graph.edges
      .filter(({ from }) => from === node.name)
      .map(({ to, label }) => `    → ${plain(to)}${label && ` (${plain(label)})`}`),
    ...node.groups.flatMap((group) => [
      `    ${group.label}:`,
      ...textLines(group.graph).map((line) => `      ${line}`),
    ]),
  ]);
}

/** Returns one line without terminal control characters. */
const plain = (text: string) => text.replaceAll(/\p{Cc}+/gu, ' ');

/** Ids by position, since names may contain any characters. */
type Ids = ReadonlyMap<string, string>;

const idsOf = (graph: Graph, prefix: string): Ids =>
  new Map(graph.nodes.map(({ name }, index) => [name, `${prefix}${index}`]));

function dotLines(graph: Graph): string[] {
  return ['digraph workflow {', '  node [shape=box, style=rounded];', ...dotBody(graph, 's', '  '), '}'];
}

function dotBody(graph: Graph, prefix: string, indent: string): string[] {
  const ids = idsOf(graph, prefix);
  const quote = (text: string) => `"${plain(text).replaceAll(/["\\]/g, '\\$&')}"`;
  return [
    `${indent}${prefix}start [shape=point, label=""];`,
    `${indent}${prefix}start -> ${ids.get(graph.start)};`,
    ...graph.nodes.flatMap((node) => [
      `${indent}${ids.get(node.name)} [label=${quote(node.name)}${dotShape(node)}];`,
      ...node.groups.flatMap((group, index) => {
        const inner = `${ids.get(node.name)}_${index}_`;
        return [
          `${indent}subgraph cluster_${inner} {`,
          `${indent}  label=${quote(`${node.name}: ${group.label}`)};`,
          ...dotBody(group.graph, inner, `${indent}  `),
          `${indent}}`,
          `${indent}${ids.get(node.name)} -> ${inner}start [style=dashed];`,
        ];
      }),
    ]),
    ...graph.edges.map(
      ({ from, to, label }) =>
        `${indent}${ids.get(from)} -> ${ids.get(to)}${label && ` [label=${quote(label)}]`};`,
    ),
  ];
}

const dotShape = ({ type, ends }: Node) =>
  `${type === 'Choice' ? ', shape=diamond' : ''}${ends ? ', peripheries=2' : ''}`;

function mermaidLines(graph: Graph): string[] {
  return ['flowchart TD', ...mermaidBody(graph, 's', '  ')];
}

function mermaidBody(graph: Graph, prefix: string, indent: string): string[] {
  const ids = idsOf(graph, prefix);
  return [
    `${indent}${prefix}start((" ")) --> ${ids.get(graph.start)}`,
    ...graph.nodes.flatMap((node) => [
      `${indent}${ids.get(node.name)}${mermaidShape(node)}`,
      ...node.groups.flatMap((group, index) => {
        const inner = `${ids.get(node.name)}_${index}_`;
        return [
          `${indent}subgraph ${inner}group["${entity(`${node.name}: ${group.label}`)}"]`,
          ...mermaidBody(group.graph, inner, `${indent}  `),
          `${indent}end`,
          `${indent}${ids.get(node.name)} -.-> ${inner}start`,
        ];
      }),
    ]),
    ...graph.edges.map(
      ({ from, to, label }) =>
        `${indent}${ids.get(from)} -->${label && `|"${entity(label)}"|`} ${ids.get(to)}`,
    ),
  ];
}

function mermaidShape({ name, type, ends }: Node): string {
  const label = `"${entity(name)}"`;
  if (type === 'Choice') return `{${label}}`;
  return ends ? `([${label}])` : `[${label}]`;
}

/**
 * Encodes all characters except letters, digits, spaces and some punctuation as Mermaid's entities: its
 * syntax has no other way to quote.
 */
const entity = (text: string) =>
  plain(text).replaceAll(/[^\p{L}\p{N} .,:$_-]/gu, (sign) => `#${sign.codePointAt(0)};`);
