import { createMemoryStore } from '../../src/storage/memory.ts';
import { storeSuite } from './store.ts';

storeSuite('memory', async () => createMemoryStore());
