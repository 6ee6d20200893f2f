import { type Static, Type } from 'typebox';
import { Id, Time } from './common.js';

export const Image = Type.Object(
  {
    id: Id,
    url: Type.String({
      format: 'uri',
      description: '640 x 360 pixels, cropped. For an external image, its own URL.',
    }),
    full_screen_url: Type.String({
      format: 'uri',
      description: 'The whole image within 2048 x 2048 pixels, not enlarged. For an external image, its own URL.',
    }),
    thumbnail_url: Type.String({
      format: 'uri',
      description: '160 x 160 pixels, cropped. For an external image, its own URL.',
    }),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Image' },
);
export type Image = Static<typeof Image>;

/** The maximum size of an uploaded file, in bytes. */
export const maxImageBytes = 5 * 1024 * 1024;

/** The files of an uploaded image, by the rendition that they hold. */
export const imageFiles = { card: 'card.jpg', full: 'full.jpg', thumbnail: 'thumbnail.jpg' } as const;
export type Rendition = keyof typeof imageFiles;

export const ImageFile = Type.String({
  title: 'ImageFile',
  enum: Object.values(imageFiles),
  description: 'The rendition.',
});

export const ImageInput = Type.Object(
  {
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          'The URL of the image, with https and a public host. Postern fetches it once; it must answer 200 without a redirect.',
      }),
    ),
    encoded: Type.Optional(
      // Without `minLength`, for which the validator would count the characters of the whole file.
      Type.String({ description: 'The file in base64, with or without the prefix `data:…;base64,`.' }),
    ),
  },
  {
    title: 'ImageInput',
    description: 'Either `url` or `encoded`.',
    examples: [
      { url: 'https://images.example.com/lunch.jpg' },
      {
        encoded:
          'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
      },
    ],
  },
);
export type ImageInput = Static<typeof ImageInput>;

/** A parsed multipart body. The file is a Buffer, so it has no `type`; the OpenAPI document adds one. */
export const ImageUpload = Type.Object(
  {
    file: Type.Unsafe<Buffer>({
      contentMediaType: 'application/octet-stream',
      description: 'The file: JPEG, PNG, WebP, GIF or AVIF. Its name and content type are ignored.',
    }),
  },
  { title: 'ImageUpload', description: 'One part `file`.', examples: [{ file: '(the bytes of lunch.jpg)' }] },
);
export type ImageUpload = Static<typeof ImageUpload>;
