// Images that environments choose from, held once: a user's folder of PNG and JPEG files, or a shipped set.
//
// Immutable after construction; the textures belong to the library. Throws InputError naming the folder or the file
// that cannot be read.
#pragma once

#include <string>
#include <vector>

#include "sim_server/render/texture.h"

namespace gripstream {

class TexturePalette {
 public:
  // From every .png, .jpg and .jpeg file in the folder, by name; images of more than 512 pixels a side are reduced.
  // `key` names the configuration key for messages. Empty folder name: `shipped`.
  TexturePalette(const std::string& folder, const std::string& key, const std::vector<RgbImage>& shipped,
                 TextureLibrary* library);

  size_t Size() const { return textures_.size(); }
  const TextureView* operator[](size_t i) const { return textures_[i]; }

 private:
  std::vector<const TextureView*> textures_;
};

}  // namespace gripstream
