import type { Readable } from 'node:stream';
import type { Rendition } from '../../contract/image.js';

/** The renditions of one image, as JPEG files. */
export type Renditions = Readonly<Record<Rendition, Buffer>>;

export interface StoredFile {
  /** Bytes. */
  readonly size: number;
  /** An open stream: read it to its end or destroy it. */
  readonly content: Readable;
}

/** A URL of a file that anyone can read for some time. */
export interface FileLocation {
  readonly url: string;
  /** Seconds. */
  readonly validFor: number;
}

/**
 * The files of uploaded images. Files and rows cannot change in one transaction. So an image is marked as *unsettled*
 * before its row is inserted or deleted, and the mark is removed afterwards. If a process dies before it removes the
 * mark, only the unsettled images must be checked for files without a row (decision 29).
 */
export interface ImageStorage {
  /**
   * Stores all files of an image, or none. The image is unsettled afterwards.
   * @throws Problem `storage_unavailable`, also when the disk is full
   */
  put(id: string, renditions: Renditions): Promise<void>;
  /** Opens a file; undefined when there is none. */
  open(id: string, rendition: Rendition): Promise<StoredFile | undefined>;
  /** The URL from which clients read a file directly. Absent if clients read all files from this service. */
  locate?(id: string, rendition: Rendition): Promise<FileLocation>;
  /** Removes the mark "unsettled". Call it after the row of the image was committed. */
  markSettled(id: string): Promise<void>;
  /** Sets the mark "unsettled". Call it before the row of the image is deleted. */
  markUnsettled(id: string): Promise<void>;
  /** Removes the files of an image, and the mark. */
  remove(id: string): Promise<void>;
  /** Some of the images that have been unsettled for longer than any request runs. */
  longUnsettled(): Promise<string[]>;
}
