import type { Readable } from 'node:stream';
import type { Rendition } from '../../contract/image.js';

/** The renditions of one image, as JPEG files. */
export type Renditions = Readonly<Record<Rendition, Buffer>>;

export interface StoredFile {
  /** Bytes. */
  readonly size: number;
  /** Opened: read it or destroy it. */
  readonly content: Readable;
}

/**
 * Where the files of uploaded images are. Files and rows cannot change together, so an image whose row is about to come
 * or to go is *unsettled*: that is written down before either, and crossed out when it is known how it ended. Whatever
 * process dies in between, nothing but the unsettled images has to be looked through for files without a row.
 */
export interface ImageStorage {
  /**
   * Keeps all files of an image or none. It is unsettled afterwards.
   * @throws Problem `storage_unavailable`, of a full disk too
   */
  put(id: string, renditions: Renditions): Promise<void>;
  /** Undefined when there is none. */
  open(id: string, rendition: Rendition): Promise<StoredFile | undefined>;
  /** The image has its row. */
  settle(id: string): Promise<void>;
  /** The image's row is about to go. */
  unsettle(id: string): Promise<void>;
  /** Removes what there is of an image. */
  remove(id: string): Promise<void>;
  /** Some images that have been unsettled for longer than any request takes. */
  longUnsettled(): Promise<string[]>;
}
