/** A page of the app; the list of all is in index.ts. */
import type { FunctionComponent } from 'preact';

/** Headings of the navigation, in its order. */
export const pageGroups = ['Cluster', 'Applications', 'Work'] as const;

export interface PageProps {
  /** Segments of the address after the page's path. */
  readonly rest: readonly string[];
}

/** An action that the command palette finds by its title. */
export interface Command {
  readonly title: string;
  /** More words by which the palette finds it. */
  readonly words?: string;
  run(): void | Promise<void>;
}

export interface Page {
  /** First segment of the page's address; empty for the page that opens first. */
  readonly path: string;
  readonly title: string;
  /** A page without a group is reached only by links. */
  readonly group?: (typeof pageGroups)[number];
  /** Path data of an icon of 24 by 24, drawn by strokes. */
  readonly icon?: string;
  readonly component: FunctionComponent<PageProps>;
  /** Key of the kind whose list the user must be allowed to see for the page to be shown. */
  readonly needs?: string;
  readonly commands?: () => readonly Command[];
}
