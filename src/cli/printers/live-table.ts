/** A table of watched objects that is replaced in place on a terminal. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { Palette } from '../../terminal/color.ts';
import { Screen, type ScreenOptions } from '../../terminal/screen.ts';
import type { WatchedEvent } from '../connection/cluster.ts';
import { metadataOf } from '../objects/objects.ts';
import { type Column, headerOf, type Row, readTable, rowsOf, type TableView } from './server-table.ts';
import { TableWriter } from './table-writer.ts';

export interface LiveTableOptions extends ScreenOptions {
  readonly palette: Palette;
  readonly view: TableView;
  readonly noHeaders: boolean;
}

export class LiveTable implements Disposable {
  readonly #options: LiveTableOptions;
  readonly #screen: Screen;
  readonly #rows = new Map<string, Row>();
  #columns: readonly Column[] = [];

  constructor(options: LiveTableOptions) {
    this.#options = options;
    this.#screen = new Screen(options);
  }

  /** Replaces all objects by those of a list. */
  list(list: JsonObject): void {
    this.#rows.clear();
    this.change(list, 'ADDED');
  }

  /** Adds, replaces or removes the objects of an answer of the server. */
  change(answer: JsonObject, type: WatchedEvent['type']): void {
    const table = readTable(answer, this.#options.clock.now(), this.#columns);
    this.#columns = table.columns;
    for (const row of table.rows) {
      const { namespace, name } = metadataOf(row.object);
      if (type === 'DELETED') this.#rows.delete(`${namespace}/${name}`);
      else this.#rows.set(`${namespace}/${name}`, row);
    }
    this.#screen.show(() => this.#text());
  }

  /**
   * Does the same as `list`. Only --watch-only stores a list without printing it, and that uses no table in
   * place.
   */
  learn(list: JsonObject): void {
    this.list(list);
  }

  [Symbol.dispose](): void {
    this.#screen[Symbol.dispose]();
  }

  /** Returns the table in the order of names; ages are those of the last change of each object. */
  #text(): string {
    const { palette, view, noHeaders } = this.#options;
    const entries = [...this.#rows].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const table = { columns: this.#columns, rows: entries.map(([, row]) => row) };
    if (table.rows.length === 0) return 'No resources found\n';
    return new TableWriter(palette).format(rowsOf(table, view), noHeaders ? [] : headerOf(table, view));
  }
}
