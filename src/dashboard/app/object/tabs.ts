/** The one list of the tabs of an object's page. */
import type { FunctionComponent } from 'preact';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { EventsTab } from './events.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { TreeTab } from './tree-tab.tsx';
import { YamlTab } from './yaml-tab.tsx';

export interface TabProps {
  readonly kind: ApiKind;
  readonly object: KubeObject;
}

export interface ObjectTab {
  /** Last segment of the address; empty for the first tab. */
  readonly path: string;
  readonly title: string;
  /** True if the tab makes sense for objects of the kind and the user may see it; absent for every kind. */
  readonly applies?: (kind: ApiKind, object: KubeObject) => boolean;
  readonly component: FunctionComponent<TabProps>;
}

export const tabs: readonly ObjectTab[] = [
  { path: '', title: 'Overview', component: OverviewTab },
  { path: 'yaml', title: 'YAML', component: YamlTab },
  { path: 'events', title: 'Events', component: EventsTab },
  { path: 'tree', title: 'Owners', component: TreeTab },
];
