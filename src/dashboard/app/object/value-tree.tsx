/** Shows any value of an object as a tree that can be expanded. Every value is shown as text. */
import { isRecord } from '../../../apimachinery/equality.ts';

interface Props {
  readonly name: string;
  readonly value: unknown;
  readonly isOpen?: boolean;
}

export function ValueTree({ name, value, isOpen = false }: Props) {
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) {
    return <Leaf name={name} text={value.map(String).join(', ')} />;
  }
  if (!isRecord(value) && !Array.isArray(value)) return <Leaf name={name} text={String(value ?? '')} />;
  const entries = Object.entries(value);
  if (entries.length === 0) return <Leaf name={name} text={Array.isArray(value) ? 'none' : 'empty'} />;
  return (
    <details class="value-tree" open={isOpen}>
      <summary>
        {name} <span class="faint">{summaryOf(value, entries.length)}</span>
      </summary>
      {entries.map(([key, inner]) => (
        <ValueTree
          key={key}
          name={Array.isArray(value) ? nameOf(inner, key) : key}
          value={inner}
          isOpen={entries.length < 3}
        />
      ))}
    </details>
  );
}

/** Returns the name of an item of a list, or its position. */
const nameOf = (item: unknown, index: string): string =>
  isRecord(item) && typeof item.name === 'string' ? item.name : `${Number(index) + 1}.`;

const summaryOf = (value: object, count: number): string =>
  Array.isArray(value) ? `${count} ${count === 1 ? 'item' : 'items'}` : '';

const Leaf = ({ name, text }: { readonly name: string; readonly text: string }) => (
  <div class="value-leaf">
    <span class="faint">{name}</span>
    <span class="mono">{text}</span>
  </div>
);
